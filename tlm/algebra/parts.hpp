// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/names.hpp>

/// A walk through the parts of a layer, and through the weights of all of them, each with its path.
namespace tlm::detail {

/// T's symbol in the book; T if it has none.
template <class T>
constexpr std::string_view symbol_of() {
  if constexpr (requires { T::symbol; }) return T::symbol;
  return "T";
}

/// The name of a part of a model: its symbol, and the part around it.
struct PartName {
  std::string_view symbol;
  std::size_t index = 0;            ///< From 1 within a Stack; 0 elsewhere.
  const PartName* outer = nullptr;  ///< The part around it; null if there is none.

  /// put(piece) for each piece of the path to this part: DB, _, 1, ., FF, . of "DB_1.FF.".
  constexpr void spell(auto&& put) const {
    constexpr std::string_view digits = "0123456789";
    if (outer) outer->spell(put);
    put(symbol);
    if (index > 0) {
      put("_");
      std::size_t unit = 1;
      while (index / unit >= 10) unit *= 10;
      for (; unit > 0; unit /= 10) put(digits.substr(index / unit % 10, 1));
    }
    put(".");
  }
};

/// The name of a weight, with the parts of the model around it. It is valid during the visit.
struct PlacedName : Name {
  const PartName* within;  ///< The innermost part around it; null if there is none.

  /// put(piece) for each piece of the path: DB, _, 1, ., FF, ., A of "DB_1.FF.A".
  constexpr void spell(auto&& put) const {
    if (within) within->spell(put);
    put(letter);
  }
};

/// T has parts, and visits them.
template <class T>
concept HasParts = requires(T& whole) {
  T::parts([](std::size_t, auto&) {}, whole);
};

/// action(part) for a layer and each of its parts, however deep: a layer before its parts.
template <class Layer>
constexpr void for_each_part(const auto& action, Layer& layer) {
  action(layer);
  if constexpr (HasParts<std::remove_const_t<Layer>>)
    Layer::parts([&](std::size_t, auto& part) { for_each_part(action, part); }, layer);
}

/// visit(name, weight) for every weight of a layer, with the name that its leaf gives it: no path is spelled.
constexpr void for_each_weight(const auto& visit, auto& layer) {
  using T = std::remove_cvref_t<decltype(layer)>;
  if constexpr (HasParts<T>)
    T::parts([&](std::size_t, auto& part) { for_each_weight(visit, part); }, layer);
  else if constexpr (HasWeights<T>)
    T::weights(visit, layer);
}

/// visit(name, weight) for every weight of a layer, with its PlacedName. The layer is within the parts `around` it. A part
/// has a name if it has a symbol, or a number within a Stack.
template <class Layer>
constexpr void visit_weights(auto&& visit, Layer& layer, const PartName* around = nullptr) {
  using T = std::remove_const_t<Layer>;
  if constexpr (HasParts<T>)
    T::parts(
        [&]<class Part>(std::size_t index, Part& part) {
          const PartName name{symbol_of<Part>(), index, around};
          const bool has_name = index > 0 || requires { Part::symbol; };
          visit_weights(visit, part, has_name ? &name : around);
        },
        layer);
  else if constexpr (HasWeights<T>)
    T::weights([&](const Name& name, auto& weight) { visit(PlacedName{name, around}, weight); }, layer);
}

}  // namespace tlm::detail
