// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/algebra/symbol.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/numbers/vector.hpp>

/// The parameters of a layer: all numbers of all its weights. They are counted, listed, set and found by their paths here,
/// once for all layers.
namespace tlm {

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

/// The number of weight matrices of a layer or model.
template <class Layer>
inline constexpr std::size_t weight_matrix_count = [] {
  std::size_t count = 0;
  visit_weights<Layer>([&](const Name&, auto&) { ++count; }, imaginary<Layer>);
  return count;
}();

/// The paths of all weights of a layer: "FF.A_1, FF.A_2".
template <class Layer>
consteval auto paths_of() {
  constexpr auto spell = [](const auto& put) {
    visit_weights<Layer>(
        [&, between = std::string_view{}](const Name& name, auto&) mutable {
          put(std::exchange(between, ", "));
          name.spell(put);
        },
        imaginary<Layer>);
  };
  constexpr std::size_t size = [=] {
    std::size_t letters = 0;
    spell([&](std::string_view piece) { letters += piece.size(); });
    return letters;
  }();
  char text[size + 1]{};
  char* end = text;
  spell([&](std::string_view piece) {
    for (const char c : piece) *end++ = c;
  });
  return Symbol<size + 1>{text};
}
/// The condition under which a path leads to one weight only. A failure shows the layer.
template <class Layer>
struct PathsAreUnique : Condition {
  static constexpr bool unique = [] {
    std::array<std::uint64_t, weight_matrix_count<Layer>> hashes{};
    auto hash = hashes.begin();
    visit_weights<Layer>(
        [&](const Name& name, auto&) {
          name.spell([&](std::string_view piece) {
            for (const char c : piece) *hash = mixed(*hash ^ std::uint64_t(c));
          });
          ++hash;
        },
        imaginary<Layer>);
    std::sort(hashes.begin(), hashes.end());
    return std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
  }();
  static_assert(unique, "two weights of this layer have the same path: give each part around them a symbol of its own");
};

/// The numbers of rows and of columns of the layer's weight with this path. There are no rows if there is no such weight.
template <class Layer>
consteval std::pair<std::size_t, std::size_t> shape_of_weight(std::string_view path) {
  std::pair<std::size_t, std::size_t> shape{0, 1};
  visit_weights<Layer>(
      [&]<class Weight>(const Name& name, Weight&) {
        if (name.has_path(path)) shape = {Weight::size / Weight::cols, Weight::cols};
      },
      imaginary<Layer>);
  return shape;
}

/// The condition under which a layer has a weight with a path. A failure shows the path, and all that there are.
template <Symbol path, Symbol paths, bool found>
struct HasWeight : Condition {
  static_assert(
      found,
      "the layer has no weight with this path: GCC lists those that there are above, and for_each_weight visits them");
};

/// The type of the weight with a path.
template <Symbol path, class Layer>
struct WeightAt {
  static constexpr auto shape = shape_of_weight<Layer>(path);
  static_assert(HasWeight<path, paths_of<Layer>(), (shape.first > 0)>::value);
  using type = Matrix<shape.first, shape.second, typename Layer::codomain::Real>;
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

/// The numbers of a weight, row by row, whatever its shape. It refers to them.
template <class Real>
struct Parameter {
  Real* numbers;
  std::size_t rows, cols;
  Role role = Role::matrix;

  std::size_t size() const { return rows * cols; }
  /// All of them, as a vector.
  auto entries() const { return as_vector(numbers, size()); }
  Real* begin() const { return numbers; }
  Real* end() const { return numbers + size(); }
};

}  // namespace detail

/// The number of parameters of a layer or model: of all entries of its weights.
template <class Layer>
inline constexpr std::size_t parameter_count = [] {
  std::size_t count = 0;
  detail::visit_weights<Layer>([&]<class Weight>(const Name&, Weight&) { count += Weight::size; },
                               detail::imaginary<Layer>);
  return count;
}();

/// visit(name, weight, …) for every weight of `layer`, and the corresponding ones of the `others`.
template <class Layer, class Visit, class... Others>
void for_each_weight(Visit&& visit, Layer& layer, Others&... others) {
  static_assert((std::is_same_v<std::remove_const_t<Layer>, std::remove_const_t<Others>> && ...),
                "weights are visited together only in layers of the same type");
  static_assert(detail::PathsAreUnique<std::remove_const_t<Layer>>::value);
  detail::visit_weights<std::remove_const_t<Layer>>(visit, layer, others...);
}

/// The numbers of all weights of a layer, in the order of weights(). They are constant if the layer is.
template <class Layer>
auto parameters(Layer& layer) {
  using Number = typename Layer::codomain::Real;
  using Real = std::conditional_t<std::is_const_v<Layer>, const Number, Number>;
  std::array<detail::Parameter<Real>, detail::weight_matrix_count<std::remove_const_t<Layer>>> weights;
  auto next = weights.begin();
  for_each_weight(
      [&]<class Weight>(const Name& name, Weight& weight) {
        *next++ = {weight.data(), Weight::size / Weight::cols, Weight::cols, name.role};
      },
      layer);
  return weights;
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
  using At = typename detail::WeightAt<path, std::remove_const_t<Layer>>::type;
  using Weight = std::conditional_t<std::is_const_v<Layer>, const At, At>;
  Weight* found = nullptr;
  for_each_weight(
      [&]<class Candidate>(const Name& name, Candidate& candidate) {
        // Matrix<2, 3> derives from Matrix<std::size_t{2}, 3>.
        if constexpr (std::is_convertible_v<Candidate*, Weight*>)
          if (name.has_path(path)) found = &candidate;
      },
      layer);
  return *found;
}

}  // namespace tlm
