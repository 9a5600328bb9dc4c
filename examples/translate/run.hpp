// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "corpus.hpp"
#include "options.hpp"

/// A model of some size: how it is trained, and how what it has learned is read from a file.
struct OfSize {
  std::size_t steps;  ///< How many it takes if it is not told, and at which greatest learning rate.
  double learning_rate;
  void (*train)(const program::Settings&, const Corpus&);
  std::function<std::string(const std::string&)> (*translator)(const Options&);
};

/// For numbers, of two and two blocks, and of six and six as published; for any sentences, as published.
extern const OfSize numbers_2, numbers_6, sentences_6;
