// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <examples/shared/settings.hpp>

/// The options of `translate`.
struct Options {
  program::Settings settings{.model = "translator.safetensors", .batch_size = 32};
  enum class CorpusKind { numbers, catalogues } corpus = CorpusKind::numbers;
  std::string pairs;                    ///< A file of the user, in the place of a corpus.
  std::optional<std::string> language;  ///< The language of the catalogues.
  int blocks = 6;
  int beam = 1;
  std::vector<std::string> sentences;
};
