// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <examples/shared/learning.hpp>
#include <tlm/base/generator.hpp>
#include "catalogue.hpp"
#include "numbers_in_words.hpp"
#include "pairs.hpp"

/// Pairs of sentences: to learn from, to look at while learning, and to test what was learned.
struct Corpus {
  std::string name;                                     ///< "numbers", "catalogues fr", "pairs FILE"
  std::vector<tlm::SentencePair> known;                 ///< To learn from.
  std::vector<tlm::SentencePair> validation, held_out;  ///< The attention is shown for the first of validation.
  /// Draws one to learn from, if there are too many to list them. `known` then is some of them.
  std::function<tlm::SentencePair(tlm::Generator&)> draw{};
  tlm::storage::Metadata identity{};  ///< What identifies the pairs that were read.
};

/// At most `most` of some pairs, spread evenly over all of them.
inline std::vector<tlm::SentencePair> some(const std::vector<tlm::SentencePair>& pairs, std::size_t most) {
  std::vector<tlm::SentencePair> chosen;
  const std::size_t count = std::min(most, pairs.size());
  for (std::size_t k = 0; k < count; ++k) chosen.push_back(pairs[k * pairs.size() / count]);
  return chosen;
}

/// Numbers up to 999,999,999. Of those held out, 1000 are to test, and 100 others to look at.
inline Corpus numbers() {
  const tlm::NumbersInWords task;
  tlm::Generator generator{0};
  Corpus corpus{"numbers", {}, {}, {}, [task](tlm::Generator& by) { return task.pair(task.training_number(by)); }};
  while (corpus.known.size() < 10'000) corpus.known.push_back(corpus.draw(generator));
  std::set<int> drawn;
  while (drawn.size() < 1100)
    if (const int number = task.held_out_number(generator); drawn.insert(number).second)
      (drawn.size() <= 1000 ? corpus.held_out : corpus.validation).push_back(task.pair(number));
  // The first is shown: ninety-four thousand five hundred seventy-five. In it one five becomes cinq, and the other is a
  // part of quinze.
  std::swap(corpus.validation.front(), corpus.validation.at(15));
  return corpus;
}

/// For pairs that were read: one set of words in ten is held out to test, and of the others one in eleven to look at.
inline Corpus sentences(std::string name, tlm::SentencePairs read) {
  const auto pairs = tlm::distinct(std::move(read.pairs));
  auto [rest, held_out] = tlm::split_by_words(pairs, 10);
  auto [known, validation] = tlm::split_by_words(rest, 11);
  if (known.empty() || validation.empty() || held_out.empty())
    throw std::invalid_argument("there are too few pairs to hold some out: " + std::to_string(known.size()) +
                                " would be left to learn from, " + std::to_string(validation.size()) +
                                " to look at and " + std::to_string(held_out.size()) + " to test" +
                                (read.left_out.empty() ? "" : "; " + tlm::sentence_of(read.left_out)));
  if (!read.left_out.empty()) std::cout << tlm::sentence_of(read.left_out) << '\n';
  if (read.numbered > 0)
    std::cout << read.numbered << " lines have numbers in columns 1 and 3: their sentences are columns 2 and 4\n";
  return {.name = std::move(name),
          .known = std::move(known),
          .validation = some(validation, 100),
          .held_out = some(held_out, 1000),
          .identity = program::identity_of(tlm::lines_of(pairs))};
}
