// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/symbol.hpp>
#include <tlm/base/language.hpp>

/// The weights of a layer, visited with their names. (weight_by_path.hpp finds one by its path.)
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

  /// put(piece) for each piece of the path, the last one first: A, ., FF, ., 1, _, DB of "DB_1.FF.A".
  constexpr void spell_backwards(const auto& put) const {
    constexpr std::string_view digits = "0123456789";
    put(letter);
    for (const detail::PartName* part = within; part; part = part->outer) {
      put(std::string_view{"."});
      for (std::size_t rest = part->index; rest > 0; rest /= 10) put(digits.substr(rest % 10, 1));
      if (part->index > 0) put(std::string_view{"_"});
      put(part->symbol);
    }
  }

  /// "DB_1.FF.A"
  std::string path() const {
    std::string path;
    spell_backwards([&](std::string_view piece) {
      for (std::size_t c = piece.size(); c > 0; --c) path.push_back(piece[c - 1]);
    });
    std::reverse(path.begin(), path.end());
    return path;
  }

  /// Whether this is the path.
  constexpr bool is(std::string_view path) const {
    bool same = true;
    spell_backwards([&](std::string_view piece) {
      same = same && path.ends_with(piece);
      if (same) path.remove_suffix(piece.size());
    });
    return same && path.empty();
  }

  /// A hash of the path (FNV-1a, from its end).
  constexpr std::uint64_t hash() const {
    std::uint64_t hash = 0xcbf29ce484222325;
    spell_backwards([&](std::string_view piece) {
      for (std::size_t c = piece.size(); c > 0; --c)
        hash = (hash ^ std::uint64_t(static_cast<unsigned char>(piece[c - 1]))) * 0x100000001b3;
    });
    return hash;
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

/// A part of type T has a name within the whole: a symbol, or a number among the parts of a Stack.
template <class T, class Whole>
concept HasName = requires {
  T::symbol;
}
|| requires { Whole::numbers_its_parts; };

/// Visits the weights of `part` and of the corresponding `others`. Their names are within `around`.
template <class Part, class Visit, class... Parts>
constexpr void visit_weights_within(const PartName* around, Visit& visit, Parts&... part) {
  if constexpr (HasParts<Part>)
    Part::parts(
        [&]<class Inner, class... Others>(std::size_t index, Inner& inner, Others&... others) {
          using T = std::remove_const_t<Inner>;
          const PartName name{symbol_of<T>(), index, around};
          visit_weights_within<T>(HasName<T, Part> ? &name : around, visit, inner, others...);
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
