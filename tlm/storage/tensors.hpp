// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/base/refuse.hpp>

/// Lists of named numbers, which are written to a file and read from it. A model's weights are such a list, and an
/// optimizer's moments are another. One file holds any of them together.
namespace tlm::storage {

/// The types of numbers that the format knows, and their bits. A file of a newer format may have others.
inline constexpr std::array<std::pair<std::string_view, std::uint64_t>, 22> number_types{
    {{"F64", 64},        {"I64", 64}, {"U64", 64},    {"C64", 64},    {"F32", 32},    {"I32", 32},
     {"U32", 32},        {"F16", 16}, {"BF16", 16},   {"I16", 16},    {"U16", 16},    {"I8", 8},
     {"U8", 8},          {"BOOL", 8}, {"F8_E8M0", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E4M3FNUZ", 8},
     {"F8_E5M2FNUZ", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}}};

/// The bits of a number of this type; 0 if the type is not known.
inline std::uint64_t bits_of(std::string_view type) {
  for (const auto& [known, bits] : number_types)
    if (known == type) return bits;
  return 0;
}

/// The condition under which numbers of this type are stored. A failure shows it.
template <class Number>
struct IsStored : detail::Condition {
  static constexpr std::string_view type = std::is_same_v<Number, float>           ? "F32"
                                           : std::is_same_v<Number, double>        ? "F64"
                                           : std::is_same_v<Number, std::int64_t>  ? "I64"
                                           : std::is_same_v<Number, std::uint64_t> ? "U64"
                                           : std::is_same_v<Number, std::uint8_t>  ? "U8"
                                                                                   : "";
  static_assert(!type.empty(),
                "numbers are stored as float, double, std::int64_t, std::uint64_t or std::uint8_t: these are others");
};

/// Named numbers, row by row: the place in memory from which they are written, or to which they are read.
template <class Byte>
struct NamedNumbers {
  std::string name;
  std::string_view type;             ///< One of number_types: "F32".
  std::vector<std::uint64_t> shape;  ///< [rows, columns]; for a single number [].
  std::span<Byte> bytes;
};

/// Numbers to write.
using Tensor = NamedNumbers<const std::byte>;
/// The place to which numbers are read.
using Place = NamedNumbers<std::byte>;

/// Adds numbers of a shape to a list. They must outlive it. Throws std::invalid_argument unless they fill the shape.
template <class Byte, class Number, std::size_t extent>
void add_numbers(std::vector<NamedNumbers<Byte>>& list, std::string name, std::span<Number, extent> numbers,
                 std::vector<std::uint64_t> shape) {
  static_assert(IsStored<std::remove_const_t<Number>>::value);
  if (std::accumulate(shape.begin(), shape.end(), std::uint64_t(1), std::multiplies{}) != numbers.size())
    refuse<std::invalid_argument>({numbers.size(), " numbers do not fill the shape of ", name});
  list.push_back({std::move(name),
                  IsStored<std::remove_const_t<Number>>::type,
                  std::move(shape),
                  {reinterpret_cast<Byte*>(numbers.data()), numbers.size_bytes()}});
}

/// Adds a single number to a list. It must outlive it.
template <class Byte, class Number>
void add_number(std::vector<NamedNumbers<Byte>>& list, std::string name, Number& number) {
  add_numbers(list, std::move(name), std::span<Number>{&number, 1}, {});
}

/// Adds the weights of a layer to a list, each as a matrix under its path, such as "DB_1.FF.A", after a prefix. The
/// layer must outlive the list.
template <class Byte, class Layer>
void add_weights(std::vector<NamedNumbers<Byte>>& list, Layer& layer, const std::string& prefix = "") {
  for (const auto& weight : parameters(layer))
    add_numbers(list, prefix + std::string(weight.path), std::span{weight.numbers, weight.size()},
                {weight.rows, weight.cols});
}

}  // namespace tlm::storage
