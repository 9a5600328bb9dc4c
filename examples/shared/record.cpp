// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include <examples/shared/ranks.hpp>
#include <examples/shared/record.hpp>

namespace program {

namespace {

using Json = nlohmann::ordered_json;

Json rounded(double x) { return std::round(x * 1e5) / 1e5; }

/// The images of some values, as a list.
Json list_of(const auto& values, const auto& f) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(f(value));
  return list;
}

}  // namespace

Record::Record(const std::string& path, std::size_t steps, tlm::storage::Existing existing)
    : every_{std::max<std::size_t>(1, (steps + 299) / 300)} {
  if (!path.empty() && ranks().is_first()) file_ = std::make_unique<tlm::storage::AtomicFile>(path, existing);
}

void Record::write() {
  if (!wanted()) return;
  Json about = Json::object();
  for (const auto& fact : about_) std::visit([&](const auto& is) { about[fact.first] = is; }, fact.second);
  const auto sample = [](const Sample& of) {
    return Json{{"question", of.question}, {"answer", of.answer}, {"expected", of.expected}};
  };
  const auto weight = [](const std::optional<double>& alpha) { return alpha ? rounded(*alpha) : Json(nullptr); };
  const auto row = [&](const auto& weights) { return list_of(weights, weight); };
  const auto map = [&](const Map& of) {
    return Json{{"layer", of.layer},
                {"head", of.head},
                {"queries", of.queries},
                {"keys", of.keys},
                {"weights", list_of(of.weights, row)}};
  };
  const Json json{{"about", about},
                  {"every", every_},
                  {"losses", list_of(means_, rounded)},
                  {"right", right_},
                  {"total", answers_},
                  {"samples", list_of(samples_, sample)},
                  {"attention", list_of(maps_, map)}};
  const std::string text = json.dump(1) + "\n";
  file_->write(std::as_bytes(std::span(text)));
  file_->commit();
}

}  // namespace program
