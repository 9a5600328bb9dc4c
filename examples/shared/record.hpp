// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tlm/storage/atomic_file.hpp>

/// The record of a program that trains, for pictures: --record FILE.
namespace program {

/// A run as data: what was trained, its losses, its answers, and the attention of one of them. The file is written
/// whole or not at all. Whether it can be written is tested before training begins.
class Record {
 public:
  /// Without a file if the path is empty. With several ranks, the first one writes it. Throws like storage::AtomicFile.
  explicit Record(const std::string& path, std::size_t steps,
                  tlm::storage::Existing existing = tlm::storage::Existing::replaced);

  /// Whether there is a file.
  bool wanted() const { return file_ != nullptr; }

  /// A fact about the run: words, a whole number, or a number.
  using Fact = std::variant<std::string, std::uint64_t, double>;
  /// Keeps a fact under its name.
  void say(std::string name, Fact value) { about_.emplace_back(std::move(name), std::move(value)); }

  /// The loss of a step. The record keeps means over equally many steps: at most 300 of them for a run.
  void loss(double loss) {
    sum_ += loss;
    if (++losses_ % every_ > 0) return;
    means_.push_back(sum_ / double(every_));
    sum_ = 0;
  }

  /// What was asked, answered, and expected.
  void answer(const std::string& question, const std::string& answer, const std::string& expected) {
    ++answers_;
    right_ += answer == expected;
    if (samples_.size() < 12 || (answer != expected && samples_.size() < 24))
      samples_.push_back({question, answer, expected});
  }

  /// The attention of every head, for the first sequence: how much each query looks at each key.
  template <class A>
  void attention(const std::string& layer, const A& A_X, const std::vector<std::string>& queries,
                 const std::vector<std::string>& keys) {
    for (std::size_t h = 0; h < A::n_heads; ++h) {
      const auto alpha = A_X(0, h);
      Map map{layer, h + 1, queries, keys, {}};
      for (std::size_t i = 0; i < alpha.rows; ++i) {
        auto& row = map.weights.emplace_back(alpha.cols);
        for (std::size_t j = 0; j < alpha.visible(i); ++j) row[j] = double(alpha(i, j));
      }
      maps_.push_back(std::move(map));
    }
  }

  /// Writes the file, if there is one.
  void write();

 private:
  struct Sample {
    std::string question, answer, expected;
  };
  struct Map {
    std::string layer;
    std::size_t head;
    std::vector<std::string> queries, keys;
    std::vector<std::vector<std::optional<double>>> weights;  // none where a key is masked
  };

  std::unique_ptr<tlm::storage::AtomicFile> file_;
  std::size_t every_, losses_ = 0, answers_ = 0, right_ = 0;
  double sum_ = 0;
  std::vector<std::pair<std::string, Fact>> about_;
  std::vector<double> means_;
  std::vector<Sample> samples_;
  std::vector<Map> maps_;
};

}  // namespace program
