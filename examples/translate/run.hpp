// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "corpus.hpp"
#include "options.hpp"

/// A model of some size: how it is trained, and how it is read from a file.
struct OfSize {
  std::size_t steps;  ///< The default number of steps, and the default maximum of the learning rate.
  double learning_rate;
  void (*train)(const program::Settings&, const Corpus&);
  std::function<std::string(const std::string&)> (*translator)(const Options&);
};

/// For numbers, with two and two blocks, and with six and six as published. For any sentences, as published.
extern const OfSize numbers_2, numbers_6, sentences_6;
