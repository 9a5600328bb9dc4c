// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/symbol.hpp>
#include <tlm/matrix/matrix.hpp>

/// The weights of a layer, visited with their names. (Found by them: weight_by_path.hpp.)
///
/// A leaf has a static function weights(visit, layer…), which calls visit(name, weight…) for each of its weights; what is
/// made of other layers has parts(visit, layer…), which calls visit(index, part…) for each of its parts. Both in the order
/// in which they are applied, and over one object or several of the same type at once (a model, its gradient, an
/// optimizer's moments): updates, counts, initial values and storage are written once, over these, and never layer by
/// layer.
namespace tlm {

/// What a weight is to the vectors that it meets.
enum class Role {
  matrix,  ///< It multiplies them from the right, or its rows are looked up or added.
  factor,  ///< Multiplies each coordinate by a number of its own: 1 does nothing.
  summand  ///< Adds a number of its own to each coordinate: 0 does nothing.
};

/// The place of a weight in a model: its own symbol within that of the layer, within that of the layer around it.
struct Name {
  std::string_view symbol;
  Role role = Role::matrix;
  std::size_t index = 0;        ///< From 1 within a Stack; 0 elsewhere.
  const Name* inner = nullptr;  ///< Valid during the visit.

  /// A letter is a name, so that visit("A", layer.A...) says what visit(Name{"A"}, layer.A...) does.
  template <std::convertible_to<std::string_view> Letter>
  constexpr Name(const Letter& letter_, Role role_ = Role::matrix, std::size_t index_ = 0, const Name* inner_ = nullptr)
      : symbol{letter_}, role{role_}, index{index_}, inner{inner_} {}

  /// The weight's own symbol, as in "A".
  constexpr std::string_view letter() const { return inner ? inner->letter() : symbol; }

  /// put(c) for each character of the path, as in "DB_1.FF.A".
  constexpr void spell(const auto& put) const {
    for (const char c : symbol) put(c);
    if (index > 0) {
      put('_');
      std::size_t digit = 1;
      while (index / digit >= 10) digit *= 10;
      for (; digit > 0; digit /= 10) put(char('0' + index / digit % 10));
    }
    if (inner) {
      put('.');
      inner->spell(put);
    }
  }

  /// As in "DB_1.FF.A".
  std::string path() const {
    std::string path;
    spell([&](char c) { path += c; });
    return path;
  }

  /// Whether this is the path.
  constexpr bool is(std::string_view path) const {
    std::size_t length = 0;
    bool same = true;
    spell([&](char c) {
      same = same && length < path.size() && path[length] == c;
      ++length;
    });
    return same && length == path.size();
  }
};

/// T's symbol in the write-up, T if it has none.
template <class T>
constexpr std::string_view symbol_of() {
  if constexpr (requires { T::symbol; })
    return T::symbol;
  else
    return "T";
}

/// Visits the weights of a layer, and of the same of others.
template <class Layer, class Visit, class... Layers>
constexpr void visit_weights(Visit&& visit, Layers&... layer) {
  if constexpr (requires { Layer::parts([](std::size_t, auto&...) {}, layer...); })
    Layer::parts(
        [&]<class Part, class... Others>(std::size_t index, Part& part, Others&... others) {
          using PartType = std::remove_const_t<Part>;
          if constexpr (
              requires { PartType::symbol; } || requires { Layer::numbers_its_parts; })
            visit_weights<PartType>(
                [&](const Name& name, auto&... weight) {
                  visit(Name{symbol_of<PartType>(), name.role, index, &name}, weight...);
                },
                part, others...);
          else
            visit_weights<PartType>(visit, part, others...);
        },
        layer...);
  else if constexpr (requires { Layer::weights(visit, layer...); })
    Layer::weights(visit, layer...);
}

/// Room for a layer that is never made: to visit the shapes of its weights when there is no object.
template <class Layer>
union Imaginary {
  char nothing;
  Layer layer;
  constexpr Imaginary() : nothing{} {}
  constexpr ~Imaginary() {}
};
/// The room for an imaginary layer of each type.
template <class Layer>
inline constinit Imaginary<Layer> room_for{};
/// A layer that is never made.
template <class Layer>
constexpr Layer& imaginary = room_for<Layer>.layer;

/// The number of weights of a layer or model of which `counts(name)` is true: all entries of their matrices.
template <class Layer>
consteval std::size_t count_weights(const auto& counts) {
  std::size_t count = 0;
  visit_weights<Layer>(
      [&](const Name& name, auto& weight) {
        if (counts(name)) count += std::remove_cvref_t<decltype(weight)>::size;
      },
      imaginary<Layer>);
  return count;
}

/// The number of weights of a layer or model.
template <class Layer>
inline constexpr std::size_t weight_count = count_weights<Layer>([](const Name&) { return true; });

/// The number of weight matrices of a layer or model.
template <class Layer>
inline constexpr std::size_t matrix_count = [] {
  std::size_t count = 0;
  visit_weights<Layer>([&](const Name&, auto&) { ++count; }, imaginary<Layer>);
  return count;
}();

/// The condition under which a path leads to one weight only. A failure shows the layer.
template <class Layer>
struct PathsAreUnique {
  static constexpr bool value = true;  // If not, the last line says so: once.
  static constexpr bool unique = [] {
    std::array<std::uint64_t, matrix_count<Layer> + 1> hashes{};  // of the paths: FNV-1a
    std::size_t count = 0;
    visit_weights<Layer>(
        [&](const Name& name, auto&) {
          std::uint64_t hash = 0xcbf29ce484222325;
          name.spell([&](char c) { hash = (hash ^ std::uint64_t(static_cast<unsigned char>(c))) * 0x100000001b3; });
          hashes[count++] = hash;
        },
        imaginary<Layer>);
    std::sort(hashes.begin(), hashes.begin() + count);
    return std::adjacent_find(hashes.begin(), hashes.begin() + count) == hashes.begin() + count;
  }();
  static_assert(unique, "two weights of this layer have the same path: give the parts that they are in a symbol each");
};

/// visit(name, weight, …) for every weight of `layer`, and the corresponding ones of the `others`.
template <class Layer, class Visit, class... Others>
void for_each_weight(Visit&& visit, Layer& layer, Others&... others) {
  static_assert((std::is_same_v<std::remove_const_t<Layer>, std::remove_const_t<Others>> && ...),
                "weights are visited together only in layers of the same type");
  static_assert(PathsAreUnique<std::remove_const_t<Layer>>::value);
  visit_weights<std::remove_const_t<Layer>>(visit, layer, others...);
}

/// The first part of type P of a layer, however deep: part<FeedForward<8, 16>>(block). The layer itself if it is a P.
template <class P, class Layer>
auto& part(Layer& layer) {
  std::conditional_t<std::is_const_v<Layer>, const P, P>* found = nullptr;
  const auto search = [&found](const auto& self, auto& candidate) -> void {
    using Candidate = std::remove_cvref_t<decltype(candidate)>;
    if constexpr (std::is_base_of_v<P, Candidate>) {
      if (!found) found = &candidate;
    } else if constexpr (requires { Candidate::parts([](std::size_t, auto&) {}, candidate); }) {
      Candidate::parts([&](std::size_t, auto& piece) { self(self, piece); }, candidate);
    }
  };
  search(search, layer);
  return *found;
}

/// All weights become 0: what a gradient is before anything is added to it.
template <class Layer>
void set_to_zero(Layer& layer) {
  for_each_weight(
      []<class Weight>(const Name&, Weight& w) { std::fill_n(w.data(), Weight::size, typename Weight::Real(0)); },
      layer);
}

}  // namespace tlm
