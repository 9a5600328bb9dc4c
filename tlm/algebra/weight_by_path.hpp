// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/parameters.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>

/// A weight of a layer, found by its path in the book: weight<"DB_1.FF.A">(model).
namespace tlm {

namespace detail {

/// The layer's weight with this path; it has no rows if there is no such weight.
template <class Layer>
consteval KnownWeight known_weight(std::string_view path) {
  for (const KnownWeight& weight : known_weights<Layer>)
    if (weight.path == path) return weight;
  return {};
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
  static constexpr KnownWeight known = known_weight<Layer>(path);
  static_assert(HasWeight<path, paths<Layer>, (known.rows > 0)>::value);
  using type = Matrix<std::max<std::size_t>(known.rows, 1), std::max<std::size_t>(known.cols, 1),
                      typename Layer::codomain::Real>;
};

}  // namespace detail

/// The weight with a path: weight<"DB_1.FF.A">(model).
template <Symbol path, class Layer>
auto& weight(Layer& layer) {
  using At = typename detail::WeightAt<path, std::remove_const_t<Layer>>::type;
  using Weight = std::conditional_t<std::is_const_v<Layer>, const At, At>;
  Weight* found = nullptr;
  for_each_weight(
      [&]<class Candidate>(const Name& name, Candidate& candidate) {
        if constexpr (std::is_convertible_v<Candidate*,
                                            Weight*>)  // Matrix<2, 3> derives from Matrix<std::size_t{2}, 3>
          if (name.path() == std::string_view(path)) found = &candidate;
      },
      layer);
  return *found;
}

}  // namespace tlm
