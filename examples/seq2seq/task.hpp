// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/training/translations.hpp>

/// What the encoder–decoders learn here: to copy a sequence of symbols, or to reverse it.
///
/// The sequences have 1 to 8 of 10 symbols, with all lengths about equally likely. Some of every length are held out:
/// training never sees them, and the success rate counts nothing else.
class Task {
 public:
  enum class Kind { copy, reverse };
  using Sequence = std::vector<tlm::Token>;

  static constexpr tlm::Token null = 0, start = 1, end = 2, first_symbol = 3;
  static constexpr int symbols = 10, longest = 8;
  static constexpr std::size_t vocab_size = std::size_t(first_symbol) + symbols;
  /// The longest target: start, the symbols, end.
  static constexpr std::size_t max_len = longest + 2;

  Task(Kind kind, tlm::Generator& generator) : kind_{kind}, generator_{generator} {
    // A tenth of the short sequences, and 150 of every larger length.
    std::size_t count = 1;
    for (int length = 1; length <= longest; ++length, count = std::min<std::size_t>(150, 10 * count)) {
      const std::size_t goal = held_out_.size() + count;
      while (held_out_.size() < goal) held_out_.insert(random(length));
    }
  }

  /// The sequences that training does not see.
  const std::set<Sequence>& held_out() const { return held_out_; }

  /// What a model should make of a source: the symbols, and the end.
  Sequence answer(const Sequence& source) const {
    Sequence target = source;
    if (kind_ == Kind::reverse) std::reverse(target.begin(), target.end());
    target.push_back(end);
    return target;
  }

  /// Random sequences of random lengths, stacked without padding.
  tlm::Translations batch(std::size_t batch_size) {
    std::vector<tlm::Tokens> sources, targets;
    while (sources.size() < batch_size) {
      const Sequence source = random(generator_.integer(1, longest));
      if (held_out_.contains(source)) continue;
      Sequence target = answer(source);
      target.insert(target.begin(), start);
      sources.emplace_back(source);
      targets.emplace_back(target);
    }
    return {concat_sequences(sources), concat_sequences(targets), null};
  }

 private:
  Sequence random(int length) {
    Sequence sequence;
    while (int(sequence.size()) < length)
      sequence.push_back(generator_.integer(first_symbol, first_symbol + symbols - 1));
    return sequence;
  }

  Kind kind_;
  tlm::Generator& generator_;
  std::set<Sequence> held_out_;
};
