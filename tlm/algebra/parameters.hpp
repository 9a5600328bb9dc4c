// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/algebra/weights.hpp>
#include <tlm/numbers/vector.hpp>

/// The parameters of a layer: all numbers of all its weights. They are counted, listed and set here, once for all layers.
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

/// Counts the weights that it visits. If it has room, it keeps the hash of each path.
struct Census {
  std::uint64_t* hashes = nullptr;
  std::size_t matrices = 0;
  std::size_t numbers = 0;

  template <class Weight>
  constexpr void operator()(const Name& name, Weight&) {
    if (hashes) hashes[matrices] = name.hash();
    ++matrices;
    numbers += Weight::size;
  }
};
/// The census of a layer or model.
template <class Layer>
inline constexpr Census census = [] {
  Census counted;
  visit_weights<Layer>(counted, imaginary<Layer>);
  return counted;
}();

/// The number of weight matrices of a layer or model.
template <class Layer>
inline constexpr std::size_t weight_matrix_count = detail::census<Layer>.matrices;

/// The condition under which a path leads to one weight only. A failure shows the layer.
template <class Layer>
struct PathsAreUnique {
  static constexpr bool value = true;  // If not, the last line says so: once.
  static constexpr bool unique = [] {
    std::array<std::uint64_t, weight_matrix_count<Layer> + 1> hashes{};
    visit_weights<Layer>(detail::Census{hashes.data()}, imaginary<Layer>);
    std::sort(hashes.begin(), hashes.end() - 1);
    return std::adjacent_find(hashes.begin(), hashes.end() - 1) == hashes.end() - 1;
  }();
  static_assert(unique, "two weights of this layer have the same path: give each part around them a symbol of its own");
};

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

/// Lists the weights that it visits, and their paths if there is a place for them.
template <class Real>
struct ListOfParameters {
  Parameter<Real>* next;
  std::vector<std::string>* paths;

  template <class Weight>
  void operator()(const Name& name, Weight& weight) {
    *next++ = {weight.data(), Weight::size / Weight::cols, Weight::cols, name.role};
    if (paths) paths->push_back(name.path());
  }
};

}  // namespace detail

/// The number of parameters of a layer or model: of all entries of its weights.
template <class Layer>
inline constexpr std::size_t parameter_count = detail::census<Layer>.numbers;

/// visit(name, weight, …) for every weight of `layer`, and the corresponding ones of the `others`.
template <class Layer, class Visit, class... Others>
void for_each_weight(Visit&& visit, Layer& layer, Others&... others) {
  static_assert((std::is_same_v<std::remove_const_t<Layer>, std::remove_const_t<Others>> && ...),
                "weights are visited together only in layers of the same type");
  static_assert(detail::PathsAreUnique<std::remove_const_t<Layer>>::value);
  detail::visit_weights<std::remove_const_t<Layer>>(visit, layer, others...);
}

/// The numbers of all weights of a layer, in the order of weights(). They are constant if the layer is. Their paths go into
/// `paths`, if it is given.
template <class Layer>
auto parameters(Layer& layer, std::vector<std::string>* paths = nullptr) {
  using Number = typename Layer::codomain::Real;
  using Real = std::conditional_t<std::is_const_v<Layer>, const Number, Number>;
  std::array<detail::Parameter<Real>, detail::weight_matrix_count<std::remove_const_t<Layer>>> weights;
  for_each_weight(detail::ListOfParameters<Real>{weights.data(), paths}, layer);
  return weights;
}

/// Sets all parameters to 0. A gradient is 0 before anything is added to it.
template <class Layer>
void zero_grad(Layer& layer) {
  for (const auto& weight : parameters(layer))
    std::fill(weight.begin(), weight.end(), typename Layer::codomain::Real(0));
}

namespace detail {

/// visit(part) for each part of type P of a layer, however deep; for the layer itself if it is a P.
template <class P, class Layer>
constexpr void for_each_part(const auto& visit, Layer& layer) {
  if constexpr (std::is_base_of_v<P, Layer>)
    visit(layer);
  else if constexpr (HasParts<std::remove_const_t<Layer>>)
    Layer::parts([&](std::size_t, auto& piece) { for_each_part<P>(visit, piece); }, layer);
}

/// The condition under which a layer has a part of type P. A failure shows both.
template <class P, class Layer>
struct HasPart {
  static constexpr bool value = true;  // If not, the last line says so: once.
  static constexpr bool has_part = [] {
    bool found = false;
    for_each_part<P>([&](auto&) { found = true; }, imaginary<Layer>);
    return found;
  }();
  static_assert(has_part, "the layer has no part of this type");
};

}  // namespace detail

/// The first part of type P of a layer, however deep: part<FeedForward<8, 16>>(block). The layer itself if it is a P.
template <class P, class Layer>
auto& part(Layer& layer) {
  static_assert(detail::HasPart<P, std::remove_const_t<Layer>>::value);
  std::conditional_t<std::is_const_v<Layer>, const P, P>* found = nullptr;
  detail::for_each_part<P>(
      [&found](auto& candidate) {
        if (!found) found = &candidate;
      },
      layer);
  return *found;
}

}  // namespace tlm
