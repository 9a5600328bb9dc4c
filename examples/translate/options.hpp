// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The options of `translate`.
struct Options {
  enum class CorpusKind { numbers, catalogues } corpus = CorpusKind::numbers;
  std::string pairs;  ///< A file of the user's own; instead of a corpus.
  std::string language = "fr";
  std::filesystem::path model = "translator.safetensors";
  int blocks = 6;
  std::optional<std::size_t> steps;
  std::size_t batch_size = 16, threads = 1;
  double learning_rate = 0.002;
  std::uint64_t seed = 1;
  bool resume = false;
  int beam = 1;
  std::vector<std::string> sentences;
};
