// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/symbol.hpp>
#include <tlm/base/language.hpp>

/// The weights of a layer, visited with their names. (parameters.hpp lists them, and finds one by its path.)
///
/// A leaf has a static function weights(visit, layer…), which calls visit(name, weight…) for each of its weights. A formula
/// has parts(visit, layer…), which calls visit(index, part…) for each of its parts. Both follow the order of application.
/// Both visit one object, or several of the same type at once: a model, its gradient, an optimizer's moments. So updates,
/// counts, initial values and storage are each written once, for every layer.
namespace tlm {

/// How a weight acts on vectors. Its initial value follows from that.
enum class Role {
  matrix,  ///< It multiplies them from the right, or its rows are looked up or added.
  factor,  ///< It multiplies each coordinate by a number: 1 changes nothing.
  summand  ///< It adds a number to each coordinate: 0 changes nothing.
};

namespace detail {

/// The name of a part of a model: its symbol, and the part around it.
struct PartName {
  std::string_view symbol;
  std::size_t index = 0;            ///< From 1 within a Stack; 0 elsewhere.
  const PartName* outer = nullptr;  ///< The part around it; null if there is none.

  /// action(part) for this part and all around it, the outermost first.
  constexpr void from_outside(const auto& action) const {
    if (outer) outer->from_outside(action);
    action(*this);
  }
};

}  // namespace detail

/// The name of a weight: its letter, and the parts of the model around it.
struct Name {
  std::string_view letter;  ///< Without the parts: "A".
  Role role = Role::matrix;
  const detail::PartName* within =
      nullptr;  ///< The innermost part around it; null if there is none. Valid during the visit.

  /// A letter is a name: visit("A", layer.A...) does what visit(Name{"A"}, layer.A...) does.
  template <std::convertible_to<std::string_view> Letter>
  constexpr Name(const Letter& letter_, Role role_ = Role::matrix, const detail::PartName* within_ = nullptr)
      : letter{letter_}, role{role_}, within{within_} {}

  /// action(part) for each part around the weight, the outermost first.
  constexpr void for_each_part(const auto& action) const {
    if (within) within->from_outside(action);
  }

  /// put(piece) for each piece of the path: DB, _, 1, ., FF, ., A of "DB_1.FF.A".
  constexpr void spell(const auto& put) const {
    constexpr std::string_view digits = "0123456789";
    for_each_part([&](const detail::PartName& part) {
      put(part.symbol);
      if (part.index > 0) {
        put("_");
        std::size_t unit = 1;
        while (part.index / unit >= 10) unit *= 10;
        for (; unit > 0; unit /= 10) put(digits.substr(part.index / unit % 10, 1));
      }
      put(".");
    });
    put(letter);
  }

  /// "DB_1.FF.A"
  std::string path() const {
    std::string path;
    spell([&](std::string_view piece) { path += piece; });
    return path;
  }
  /// Whether this is the path.
  constexpr bool has_path(std::string_view path) const {
    bool begins = true;
    spell([&](std::string_view piece) {
      begins = begins && path.starts_with(piece);
      if (begins) path.remove_prefix(piece.size());
    });
    return begins && path.empty();
  }
};

namespace detail {

/// T's symbol in the book; T if it has none.
template <class T>
constexpr std::string_view symbol_of() {
  if constexpr (requires { T::symbol; })
    return T::symbol;
  else
    return "T";
}

/// T visits its weights.
template <class T>
concept HasWeights = requires(T& layer) {
  T::weights([](const Name&, auto&...) {}, layer);
};

/// T has parts, and visits them.
template <class T>
concept HasParts = requires(T& whole) {
  T::parts([](std::size_t, auto&...) {}, whole);
};

/// action(part) for a layer and each of its parts, however deep: a layer before its parts.
template <class Layer>
constexpr void for_each_part(const auto& action, Layer& layer) {
  action(layer);
  if constexpr (HasParts<std::remove_const_t<Layer>>)
    Layer::parts([&](std::size_t, auto& part) { for_each_part(action, part); }, layer);
}

/// Visits the weights of `part`, and of the corresponding ones of the others. Their names are within `around`: a part of
/// a part has a name if it has a symbol, or a number within a Stack.
template <class Part, class Visit, class... Parts>
constexpr void visit_weights_within(const PartName* around, Visit& visit, Parts&... part) {
  if constexpr (HasParts<Part>)
    Part::parts(
        [&]<class Inner, class... Others>(std::size_t index, Inner& inner, Others&... others) {
          using T = std::remove_const_t<Inner>;
          const PartName name{symbol_of<T>(), index, around};
          const bool has_name = index > 0 || requires { T::symbol; };
          visit_weights_within<T>(has_name ? &name : around, visit, inner, others...);
        },
        part...);
  else if constexpr (requires { Part::weights(visit, part...); })
    Part::weights(
        [&](const Name& name, auto&... weight) {
          visit(Name{name.letter, name.role, around}, weight...);
        },
        part...);
}

/// visit(name, weight, …) for every weight of a layer, and the corresponding ones of others of its type.
template <class Layer, class Visit, class... Layers>
constexpr void visit_weights(Visit&& visit, Layers&... layer) {
  visit_weights_within<Layer>(nullptr, visit, layer...);
}

}  // namespace detail

}  // namespace tlm
