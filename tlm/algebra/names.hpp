// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <tlm/base/language.hpp>

/// The names of layers and weights, and how the weights of a layer are visited with their names.
///
/// A leaf has a static function weights(visit, layer), which calls visit(name, weight) for each of its weights. A formula
/// has parts(visit, layer), which calls visit(index, part) for each of its parts. Both follow the order of application.
/// parameters.hpp makes one list of all weights, so that updates, initial values and storage are each written once.
namespace tlm {

/// A name of the book as a template argument: Times<"W_Q", …>.
template <std::size_t size>
struct Symbol {
  char text[size]{};

  constexpr Symbol(const char (&literal)[size]) {
    for (std::size_t c = 0; c < size; ++c) text[c] = literal[c];
  }

  constexpr operator std::string_view() const { return {text, size - 1}; }
};

/// How a weight acts on vectors. Its initial value follows from that.
enum class Role {
  matrix,  ///< It multiplies them from the right, or its rows are looked up or added.
  factor,  ///< It multiplies each coordinate by a number: 1 changes nothing.
  summand  ///< It adds a number to each coordinate: 0 changes nothing.
};

/// The name of a weight in its layer.
struct Name {
  std::string_view letter;  ///< "A"
  Role role = Role::matrix;

  /// A letter is a name: visit("A", layer.A).
  template <std::convertible_to<std::string_view> Letter>
  constexpr Name(const Letter& letter_, Role role_ = Role::matrix) : letter{letter_}, role{role_} {}
};

namespace detail {

/// T visits its weights.
template <class T>
concept HasWeights = requires(T& layer) {
  T::weights([](const Name&, auto&) {}, layer);
};

}  // namespace detail

}  // namespace tlm
