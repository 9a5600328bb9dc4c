#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

/// The weights of a layer, visited by name.
///
/// Every layer has a static function weights(visit, layer…), which calls visit(name, weight…) for each of its weights
/// in the order in which the layer applies them. It takes one object or several of the same type at once (a model, its
/// gradient, an optimizer's moments), so that updates, counts, initial values and storage are written once, here and
/// over this function, and never layer by layer.
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
  std::size_t index = 0;        ///< From 1 within a Stack; 0 elsewhere.
  const Name* inner = nullptr;  ///< Valid during the visit.
  Role role = Role::matrix;

  /// The weight's own symbol, as in "A".
  std::string_view letter() const { return inner ? inner->letter() : symbol; }

  /// As in "DB_1.FF.A".
  std::string path() const {
    std::string path{symbol};
    if (index > 0) path += "_" + std::to_string(index);
    return inner ? path + "." + inner->path() : path;
  }
};

/// Visits the weights of a part of a layer, under the part's symbol where it has one.
template <class Part, class Visit, class... Parts>
constexpr void visit_part(Visit&& visit, std::size_t index, Parts&... part) {
  if constexpr (requires { Part::symbol; })
    Part::weights(
        [&](const Name& name, auto&... weight) {
          visit(Name{Part::symbol, index, &name, name.role}, weight...);
        },
        part...);
  else
    Part::weights(visit, part...);
}

/// visit(name, weight, …) for every weight of `layer`, and the corresponding ones of the `others`.
template <class Layer, class Visit, class... Others>
void for_each_weight(Visit&& visit, Layer& layer, Others&... others) {
  static_assert((std::is_same_v<std::remove_const_t<Layer>, std::remove_const_t<Others>> && ...),
                "weights are visited together only in layers of the same type");
  std::remove_const_t<Layer>::weights(visit, layer, others...);
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

/// A layer that is never made: to visit the shapes of its weights when there is no object.
template <class Layer>
extern Layer imaginary;

/// The number of weights of a layer or model of which `counts(name)` is true: all entries of their matrices.
template <class Layer>
consteval std::size_t count_weights(const auto& counts) {
  std::size_t count = 0;
  Layer::weights(
      [&](const Name& name, auto& weight) {
        if (counts(name)) count += std::remove_cvref_t<decltype(weight)>::size;
      },
      imaginary<Layer>);
  return count;
}

/// The number of weights of a layer or model.
template <class Layer>
inline constexpr std::size_t weight_count = count_weights<Layer>([](const Name&) { return true; });

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace tlm
