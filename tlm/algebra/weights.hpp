// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string_view>

#include <tlm/base/language.hpp>

/// The weights of a layer, visited with their names.
///
/// A leaf has a static function weights(visit, layer), which calls visit(name, weight) for each of its weights. A formula
/// has parts(visit, layer), which calls visit(index, part) for each of its parts. Both follow the order of application.
/// parameters.hpp makes one list of all weights. With it updates, initial values and storage are each written once, for
/// every layer.
namespace tlm {

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
