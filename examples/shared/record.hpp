// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <examples/shared/ranks.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/storage/atomic_file.hpp>

/// The record of a program that trains, for pictures: --record FILE.
namespace program {

/// A run as data: what was trained, its losses, its answers, and the attention of one of them. The file is written
/// whole or not at all. Whether it can be written is tested before training begins.
class Record {
 public:
  /// Without a file if the path is empty. With several ranks, the first one writes it. Throws like storage::AtomicFile.
  explicit Record(const std::string& path, std::size_t steps,
                  tlm::storage::Existing existing = tlm::storage::Existing::replaced)
      : every_{std::max<std::size_t>(1, (steps + 299) / 300)} {
    if (!path.empty() && ranks().is_first()) file_ = std::make_unique<tlm::storage::AtomicFile>(path, existing);
  }

  /// Whether there is a file.
  bool wanted() const { return file_ != nullptr; }

  /// A fact about the run.
  template <class Value>
  void say(const std::string& name, Value value) {
    about_[name] = value;
  }

  /// The loss of a step. The record keeps means over equally many steps: at most 300 of them for a run.
  void loss(double loss) {
    sum_ += loss;
    if (++losses_ % every_ > 0) return;
    means_.push_back(rounded(sum_ / double(every_)));
    sum_ = 0;
  }

  /// What was asked, answered, and expected.
  void answer(const std::string& question, const std::string& answer, const std::string& expected) {
    ++answers_;
    right_ += answer == expected;
    if (samples_.size() < 12 || (answer != expected && samples_.size() < 24))
      samples_.push_back({{"question", question}, {"answer", answer}, {"expected", expected}});
  }

  /// The attention of every head, for the first sequence: how much each query looks at each key.
  template <class A>
  void attention(const std::string& layer, const A& A_X, const std::vector<std::string>& queries,
                 const std::vector<std::string>& keys) {
    for (std::size_t h = 0; h < A::n_heads; ++h) {
      const auto alpha = A_X(0, h);
      nlohmann::ordered_json weights = nlohmann::ordered_json::array();
      for (std::size_t i = 0; i < alpha.rows; ++i) {
        nlohmann::ordered_json row = nlohmann::ordered_json::array();
        for (std::size_t j = 0; j < alpha.cols; ++j)
          row.push_back(j < alpha.visible(i) ? nlohmann::ordered_json(rounded(double(alpha(i, j)))) : nullptr);
        weights.push_back(row);
      }
      maps_.push_back({{"layer", layer}, {"head", h + 1}, {"queries", queries}, {"keys", keys}, {"weights", weights}});
    }
  }

  /// Writes the file, if there is one.
  void write() {
    if (!wanted()) return;
    const nlohmann::ordered_json json{{"about", about_},   {"every", every_},   {"losses", means_},
                                      {"right", right_},   {"total", answers_}, {"samples", samples_},
                                      {"attention", maps_}};
    const std::string text = json.dump(1) + "\n";
    file_->write(std::as_bytes(std::span(text)));
    file_->commit();
  }

 private:
  static double rounded(double x) { return std::round(x * 1e5) / 1e5; }

  std::unique_ptr<tlm::storage::AtomicFile> file_;
  std::size_t every_, losses_ = 0, answers_ = 0, right_ = 0;
  double sum_ = 0;
  nlohmann::ordered_json about_ = nlohmann::ordered_json::object(), means_ = nlohmann::ordered_json::array(),
                         samples_ = nlohmann::ordered_json::array(), maps_ = nlohmann::ordered_json::array();
};

}  // namespace program
