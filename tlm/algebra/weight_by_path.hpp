// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// The paths of all weights of a layer, that of the last one first: "FF.B_2, FF.A_2".
template <class Layer>
consteval auto paths_of() {
  constexpr auto for_each_piece_backwards = [](const auto& put) {
    visit_weights<Layer>(
        [&, between = std::string_view{}](const Name& name, auto&) mutable {
          put(std::exchange(between, ", "));
          name.spell_backwards(put);
        },
        imaginary<Layer>);
  };
  constexpr std::size_t size = [=] {
    std::size_t letters = 0;
    for_each_piece_backwards([&](std::string_view piece) { letters += piece.size(); });
    return letters;
  }();
  char text[size + 1]{};
  std::size_t first = size;
  for_each_piece_backwards([&](std::string_view piece) {
    first -= piece.size();
    std::copy(piece.begin(), piece.end(), text + first);
  });
  return Symbol<size + 1>{text};
}

/// The condition under which a layer has a weight with a path. A failure shows the path, and all that there are.
template <Symbol path, Symbol paths, bool found>
struct HasWeight {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(
      found,
      "the layer has no weight with this path: GCC lists those that there are above, and for_each_weight visits them");
};

/// The type of the weight with a path.
template <Symbol path, class Layer>
struct WeightAt {
  static constexpr Shape shape = shape_of<Layer>(path);
  static_assert(HasWeight<path, paths_of<Layer>(), (shape.rows > 0)>::value);
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
