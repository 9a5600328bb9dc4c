// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

/// The settings of programs that train, and how numbers among them are read.
namespace program {

/// Such as "2 to 4", or "2".
inline std::string spelled(std::uint64_t first, std::uint64_t last) {
  return std::to_string(first) + (first == last ? "" : " to " + std::to_string(last));
}

/// Whether a text is an integer from `first` to `last`, written in decimal. If so, `value` becomes that integer.
template <class Value>
bool read_integer(std::string_view text, Value& value, std::uint64_t first, std::uint64_t last) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < first || number > last) return false;
  value = Value(number);
  return true;
}

/// Whether a text is a finite number greater than 0. If so, `value` becomes that number.
inline bool read_positive(const std::string& text, double& value) {
  std::istringstream in{text};
  return in >> value && in.eof() && std::isfinite(value) && value > 0;
}

/// The maximum number of steps that a program takes.
inline constexpr std::uint64_t a_billion = 1'000'000'000;

/// How many threads this process may run at once: mpirun shares the processors of a machine among its ranks.
inline std::size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max<std::size_t>(1, std::size_t(CPU_COUNT(&set))) : 1;
}

/// The settings of the programs with random tasks.
struct TrainingOptions {
  double learning_rate = 0.001;
  std::size_t batch_size, threads = processors();
  std::uint64_t seed = 1;
  bool quiet = false;
};

/// The settings of the programs that learn from text. All are kept in the file, except the files, the threads and the
/// flags.
struct Settings {
  std::string model;                      ///< The file.
  std::optional<std::size_t> steps{};     ///< If none is given, the program chooses.
  std::optional<double> learning_rate{};  ///< The maximum of the learning rate; if none is given, the program chooses.
  std::size_t batch_size = 16, threads = processors();
  std::uint64_t seed = 1;
  bool resume = false;
  bool other_data = false;  ///< Whether data are accepted that have changed since a model learned from them.
  std::string record{};     ///< The file of the record, if any.
};

}  // namespace program
