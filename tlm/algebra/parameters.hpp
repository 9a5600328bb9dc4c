// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/names.hpp>
#include <tlm/algebra/parts.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/numbers/vector.hpp>

/// The parameters of a layer: all numbers of all its weights. They are counted, listed, set and found by their paths here,
/// once for all layers.
namespace tlm {

/// All parameters of one weight of a layer, whatever its shape. It refers to them.
template <class Real>
struct Parameter {
  std::string_view path;  ///< "DB_1.FF.A"
  Role role = Role::matrix;
  std::size_t rows = 0, cols = 0;
  Real* numbers = nullptr;  ///< Row by row.

  constexpr std::size_t size() const { return rows * cols; }  ///< The number of entries.
  /// All of them, as a vector.
  auto entries() const { return detail::as_vector(numbers, size()); }
  Real* begin() const { return numbers; }
  Real* end() const { return numbers + size(); }
};

namespace detail {

/// Room for a layer that is never constructed. Its weights can be visited for their names and shapes.
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

/// A layer that is never constructed.
template <class Layer>
constexpr Layer& imaginary = detail::room_for<Layer>.layer;

// The visitors are one type for all models: the walk through a block is the same, whatever the block is a part of.

/// A visitor that counts weights, and the letters of their paths with ", " after each. It writes these where there is room.
struct SpellPaths {
  char* text = nullptr;
  std::size_t weights = 0, letters = 0;
  constexpr void operator()(std::string_view piece) {
    if (text) std::copy(piece.begin(), piece.end(), text + letters);
    letters += piece.size();
  }
  constexpr void operator()(const PlacedName& name, auto&) { ++weights, name.spell(*this), (*this)(", "); }
};
/// A visitor that lists weights, with the paths that were written.
struct ListWeights : SpellPaths {
  const char* paths;
  Parameter<void>* list;
  template <class Weight>
  constexpr void operator()(const PlacedName& name, Weight& weight) {
    const std::size_t first = letters;
    SpellPaths::operator()(name, weight);
    list[weights - 1] = {{paths + first, letters - first - 2}, name.role, Weight::fixed_rows(), Weight::cols};
  }
};
/// The visitor when it has visited all weights of a layer. These have no numbers.
template <class Layer, class Visitor>
constexpr Visitor after_weights(Visitor visitor) {
  visit_weights(visitor, imaginary<Layer>);
  return visitor;
}

/// The paths of all weights of a layer as one text, to which weight_list refers: "FF.A_1, FF.A_2, ".
template <class Layer>
inline constexpr auto paths = [] {
  char text[after_weights<Layer>(SpellPaths{}).letters + 1]{};
  after_weights<Layer>(SpellPaths{text});
  return Symbol{text};
}();

/// The weights of a layer, in the order of weights(), as its type has them: without numbers.
template <class Layer>
inline constexpr auto weight_list = [] {
  std::array<Parameter<void>, after_weights<Layer>(SpellPaths{}).weights> list;
  after_weights<Layer>(ListWeights{{}, paths<Layer>.text, list.data()});
  return list;
}();

/// A visitor that takes down where the numbers of each weight are. (What it changes is outside: a layer may copy a visitor.)
template <class Real>
struct TakePlaces {
  Real**& next;
  void operator()(const Name&, auto& weight) const { *next++ = weight.data(); }
};

/// A visitor that finds the weight that `before` others come before.
template <class Weight>
struct FindWeight {
  std::size_t& before;
  Weight*& found;
  void operator()(const Name&, auto& weight) const {
    // Matrix<2, 3> derives from Matrix<std::size_t{2}, 3>.
    if constexpr (std::is_convertible_v<decltype(&weight), Weight*>)
      if (before == 0) found = &weight;
    --before;
  }
};

/// The condition under which a path leads to one weight only, by their hashes (as FNV-1a). A failure shows the layer.
template <class Layer>
struct PathsAreUnique : Condition {
  static constexpr bool unique = [] {
    std::array<std::uint64_t, weight_list<Layer>.size()> hashes{};
    for (std::size_t k = 0; k < hashes.size(); ++k)
      for (const char c : weight_list<Layer>[k].path) hashes[k] = (hashes[k] ^ std::uint64_t(c)) * 0x100000001b3;
    std::sort(hashes.begin(), hashes.end());
    return std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
  }();
  static_assert(unique, "two weights of this layer have the same path: give each part around them a symbol of its own");
};

/// The place of the weight with this path in weight_list, from 0; its size() if there is no such weight.
template <class Layer>
constexpr std::size_t index_of_weight(std::string_view path) {
  std::size_t k = 0;
  while (k < weight_list<Layer>.size() && weight_list<Layer>[k].path != path) ++k;
  return k;
}

/// The condition under which a layer has a weight with a path. A failure shows the path, and all that there are.
template <Symbol path, Symbol all, bool found>
struct HasWeight : Condition {
  static_assert(
      found,
      "the layer has no weight with this path: GCC lists those that there are above, and parameters(layer) has them");
};

/// The first part of type P of a layer, however deep; null if there is none.
template <class P, class Layer>
constexpr auto first_part(Layer& layer) {
  std::conditional_t<std::is_const_v<Layer>, const P, P>* first = nullptr;
  for_each_part(
      [&]<class Part>(Part& part) {
        if constexpr (std::is_base_of_v<P, Part>)
          if (!first) first = &part;
      },
      layer);
  return first;
}

}  // namespace detail

/// The number of parameters of a layer or model: of all entries of its weights.
template <class Layer>
inline constexpr std::size_t parameter_count = [] {
  std::size_t count = 0;
  for (const auto& weight : detail::weight_list<Layer>) count += weight.size();
  return count;
}();

/// All weights of a layer that is not moved-from, in the order of weights(): a Parameter of each, constant if the layer is.
template <class Layer>
auto parameters(Layer& layer) {
  using T = std::remove_const_t<Layer>;
  using Number = typename T::codomain::Real;
  using Real = std::conditional_t<std::is_const_v<Layer>, const Number, Number>;
  static_assert(detail::PathsAreUnique<T>::value);
  std::array<Number*, detail::weight_list<T>.size()> places;
  Number** next = places.data();
  detail::for_each_weight(detail::TakePlaces<Number>{next},
                          const_cast<T&>(layer));  // it changes nothing, and Real is constant where the layer is
  std::array<Parameter<Real>, places.size()> all;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& [path, role, rows, cols, none] = detail::weight_list<T>[k];
    all[k] = {path, role, rows, cols, places[k]};
  }
  return all;
}

/// Sets all parameters to 0. A gradient is 0 before anything is added to it.
template <class Layer>
void zero_grad(Layer& layer) {
  for (const auto& weight : parameters(layer))
    std::fill(weight.begin(), weight.end(), typename Layer::codomain::Real(0));
}

/// The first part of type P of a layer, however deep: part<FeedForward<8, 16>>(block). The layer itself if it is a P.
template <class P, class Layer>
auto& part(Layer& layer) {
  static_assert(detail::first_part<P>(detail::imaginary<std::remove_const_t<Layer>>) != nullptr,
                "the layer has no part of this type");
  return *detail::first_part<P>(layer);
}

/// The weight with a path: weight<"DB_1.FF.A">(model).
template <Symbol path, class Layer>
auto& weight(Layer& layer) {
  using T = std::remove_const_t<Layer>;
  static_assert(detail::PathsAreUnique<T>::value);
  constexpr std::size_t index = detail::index_of_weight<T>(path);
  constexpr bool exists = index < detail::weight_list<T>.size();
  static_assert(detail::HasWeight<path, detail::paths<T>, exists>::value);
  constexpr Parameter<void> shape = exists ? detail::weight_list<T>[index] : Parameter<void>{{}, {}, 0, 1, {}};
  using M = Matrix<shape.rows, shape.cols, typename T::codomain::Real>;
  using Weight = std::conditional_t<std::is_const_v<Layer>, const M, M>;
  std::size_t before = index;
  Weight* found = nullptr;
  detail::for_each_weight(detail::FindWeight<Weight>{before, found}, layer);
  return *found;
}

}  // namespace tlm
