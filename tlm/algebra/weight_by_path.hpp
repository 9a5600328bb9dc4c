// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/parameters.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/matrix/matrix.hpp>

/// A weight of a layer, found by its path in the book: weight<"DB_1.FF.A">(model).
namespace tlm {

namespace detail {

/// The number of rows and of columns of a weight.
struct Shape {
  std::size_t rows = 0, cols = 0;
};

/// The shape of the layer's weight with this path; it has no rows if there is no such weight.
template <class Layer>
consteval Shape shape_of(std::string_view path) {
  Shape shape;
  visit_weights<Layer>(
      [&](const Name& name, auto& weight) {
        using Weight = std::remove_cvref_t<decltype(weight)>;
        if (name.is(path)) shape = {Weight::size / Weight::cols, Weight::cols};
      },
      imaginary<Layer>);
  return shape;
}

/// The condition under which a layer has a weight with a path. A failure shows both.
template <Symbol path, class Layer>
struct HasWeight {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(shape_of<Layer>(path).rows > 0,
                "the layer has no weight with this path: for_each_weight visits those that there are, and name.path() "
                "is the path of each");
};

/// The type of the weight with a path.
template <Symbol path, class Layer>
struct WeightAt {
  static_assert(HasWeight<path, Layer>::value);
  static constexpr Shape shape = shape_of<Layer>(path);
  using type = Matrix<std::max<std::size_t>(shape.rows, 1), std::max<std::size_t>(shape.cols, 1),
                      typename Layer::codomain::Real>;
};
/// A weight of a constant layer is constant.
template <Symbol path, class Layer>
struct WeightAt<path, const Layer> {
  using type = const typename WeightAt<path, Layer>::type;
};

}  // namespace detail

/// The weight with a path: weight<"DB_1.FF.A">(model).
template <Symbol path, class Layer>
auto& weight(Layer& layer) {
  using Weight = typename detail::WeightAt<path, Layer>::type;
  Weight* found = nullptr;
  for_each_weight(
      [&]<class Candidate>(const Name& name, Candidate& candidate) {
        if constexpr (std::is_convertible_v<Candidate*,
                                            Weight*>)  // Matrix<2, 3> derives from Matrix<std::size_t{2}, 3>
          if (name.is(path)) found = &candidate;
      },
      layer);
  return *found;
}

}  // namespace tlm
