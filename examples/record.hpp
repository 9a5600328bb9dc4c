// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <examples/ranks.hpp>
#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/storage/atomic_file.hpp>

/// What a program that trains leaves behind for pictures: --record FILE.
namespace program {

/// A run as data: what was trained, its losses, its answers and the attention of one of them. It becomes a file whole or
/// not at all, and whether it can be written is seen before training begins.
class Record {
 public:
  /// To no file if the path is empty; of several ranks the first one keeps it. Throws like storage::AtomicFile.
  explicit Record(const std::string& path, std::size_t steps) : every_{std::max<std::size_t>(1, steps / 300)} {
    if (!path.empty() && ranks().is_first()) file_ = std::make_unique<tlm::storage::AtomicFile>(path);
  }

  /// Whether there is a file.
  bool wanted() const { return file_ != nullptr; }

  /// Something to know of the run.
  template <class Value>
  void say(const std::string& name, Value value) {
    about_[name] = value;
  }

  /// The loss of a step. Means of as many steps as make 300 points of a run are kept.
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

  /// The attention of every head of a kernel, for the first sequence: how much each query looks at each key.
  template <class A>
  void attention(const std::string& layer, const A& kernel, const std::vector<std::string>& queries,
                 const std::vector<std::string>& keys) {
    for (std::size_t h = 0; h < A::n_heads; ++h) {
      const auto alpha = kernel(0, h);
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

/// Applies a layer, and shows the kernels that it uses on the way: visit(path, A) for the matrices A(X) of each.
template <class Visit>
class Walk {
 public:
  explicit Walk(const Visit& visit) : visit_{visit} {}

  /// T(X), where T stands at `path`.
  template <class T, class... Environment>
  tlm::CodomainOf<T> operator()(const std::string& path, const T& layer, const tlm::DomainOf<T>& X,
                                const Environment&... environment) const {
    if constexpr (requires {
                    layer.a.q;
                    layer.b;
                  }) {
      const auto A = tlm::apply(layer.a, X, environment...);
      visit_(path, A);
      return A * tlm::apply(layer.b, X, environment...);
    } else if constexpr (requires { typename T::form; }) {
      return through(typename std::type_identity<typename T::form>{}, path, layer, X, environment...);
    } else {
      return tlm::apply(layer, X, environment...);
    }
  }

 private:
  template <class T>
  static std::string inside(const std::string& path, std::size_t index = 0) {
    if constexpr (requires { T::symbol; })
      return path + (path.empty() ? "" : ".") + std::string(T::symbol) + (index > 0 ? "_" + std::to_string(index) : "");
    else
      return path;
  }
  template <class Part, class X, class... Environment>
  auto go(const std::string& path, const Part& part, const X& x, const Environment&... environment) const {
    return (*this)(inside<Part>(path), part, x, environment...);
  }

  template <class G, class... Fs, class T, class X, class... Environment>
  auto through(std::type_identity<tlm::forms::Composition<G, Fs...>>, const std::string& path, const T& layer,
               const X& x, const Environment&... environment) const {
    return go(path, layer.g, go(path, layer.f, x, environment...), environment...);
  }
  template <class F, std::size_t count, class T, class X, class... Environment>
  auto through(std::type_identity<tlm::forms::Stack<F, count>>, const std::string& path, const T& layer, X x,
               const Environment&... environment) const {
    for (std::size_t i = 0; i < count; ++i) x = (*this)(inside<F>(path, i + 1), layer.f[i], x, environment...);
    return x;
  }
  template <class F, class T, class X, class... Environment>
  auto through(std::type_identity<tlm::forms::Residual<F>>, const std::string& path, const T& layer, const X& x,
               const Environment&... environment) const {
    return x + go(path, layer.f, x, environment...);
  }
  template <class Item, class F, class T, class X, class... Environment>
  auto through(std::type_identity<tlm::forms::Tied<Item, F>>, const std::string& path, const T& layer, const X& x,
               const Environment&... environment) const {
    return go(path, layer.f, x, layer.item, environment...);
  }
  template <class Encoder, class Decoder, class T, class X, class... Environment>
  auto through(std::type_identity<tlm::forms::EncoderDecoder<Encoder, Decoder>>, const std::string& path,
               const T& layer, const X& x, const Environment&... environment) const {
    const typename T::provides memory{go(path.empty() ? "encoder" : path, layer.encoder, x.x, environment...)};
    return go(path.empty() ? "decoder" : path, layer.decoder, x.y, memory, environment...);
  }
  template <class G, class F, class T, class X, class... Environment>
  auto through(std::type_identity<tlm::forms::ThroughMemory<G, F>>, const std::string& path, const T& layer, const X& x,
               const Environment&... environment) const {
    const typename T::provides memory{go(path, layer.g, tlm::read<T>(environment...).rows, environment...)};
    return go(path, layer.f, x, memory, environment...);
  }
  template <class Form, class T, class X, class... Environment>
  auto through(std::type_identity<Form>, const std::string&, const T& layer, const X& x,
               const Environment&... environment) const {
    return tlm::apply(layer, x, environment...);
  }

  const Visit& visit_;
};

}  // namespace program
