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
#include <vector>

#include <tlm/algebra/symbol.hpp>
#include <tlm/matrix/matrix.hpp>

/// The weights of a layer, visited with their names. (weight_by_path.hpp finds one by its path.)
///
/// A leaf has a static function weights(visit, layer…), which calls visit(name, weight…) for each of its weights. A formula
/// has parts(visit, layer…), which calls visit(index, part…) for each of its parts. Both follow the order of application.
/// Both visit one object, or several of the same type at once: a model, its gradient, an optimizer's moments. So updates,
/// counts, initial values and storage are each written once, for every layer.
namespace tlm {

/// How a weight acts on the vectors that it meets. Its initial value follows from that.
enum class Role {
  matrix,  ///< It multiplies them from the right, or its rows are looked up or added.
  factor,  ///< It multiplies each coordinate by a number: 1 changes nothing.
  summand  ///< It adds a number to each coordinate: 0 changes nothing.
};

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

/// The name of a weight: its letter, and the parts of the model around it.
struct Name {
  std::string_view letter;  ///< Without the parts: "A".
  Role role = Role::matrix;
  const PartName* within = nullptr;  ///< The innermost part around it; null if there is none. Valid during the visit.

  /// A letter is a name: visit("A", layer.A...) does what visit(Name{"A"}, layer.A...) does.
  template <std::convertible_to<std::string_view> Letter>
  constexpr Name(const Letter& letter_, Role role_ = Role::matrix, const PartName* within_ = nullptr)
      : letter{letter_}, role{role_}, within{within_} {}

  /// action(part) for each part around the weight, the outermost first.
  constexpr void for_each_part(const auto& action) const {
    if (within) within->from_outside(action);
  }

  /// put(piece) for each piece of the path, the last one first: A, ., FF, ., 1, _, DB of "DB_1.FF.A".
  constexpr void spell_backwards(const auto& put) const {
    constexpr std::string_view digits = "0123456789";
    put(letter);
    for (const PartName* part = within; part; part = part->outer) {
      put(std::string_view{"."});
      for (std::size_t rest = part->index; rest > 0; rest /= 10) put(digits.substr(rest % 10, 1));
      if (part->index > 0) put(std::string_view{"_"});
      put(part->symbol);
    }
  }

  /// "DB_1.FF.A"
  std::string path() const {
    std::string path;
    spell_backwards([&](std::string_view piece) { path.insert(0, piece); });
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

/// T's symbol in the write-up; T if it has none.
template <class T>
constexpr std::string_view symbol_of() {
  if constexpr (requires { T::symbol; })
    return T::symbol;
  else
    return "T";
}

/// T has parts, and visits them.
template <class T>
concept HasParts = requires(T& whole) {
  T::parts([](std::size_t, auto&...) {}, whole);
};

namespace detail {

/// A part that is a T has a name within the whole: a symbol, or a number among the parts of a Stack.
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

}  // namespace detail

/// visit(name, weight, …) for every weight of a layer, and the corresponding ones of others of its type.
template <class Layer, class Visit, class... Layers>
constexpr void visit_weights(Visit&& visit, Layers&... layer) {
  detail::visit_weights_within<Layer>(nullptr, visit, layer...);
}

namespace detail {

/// Room for a layer that is never made, whose weights can be visited for their names and shapes.
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

}  // namespace detail

/// A layer that is never made.
template <class Layer>
constexpr Layer& imaginary = detail::room_for<Layer>.layer;

namespace detail {

/// Counts the weights that it visits, and keeps the hash of each path if there is room for them.
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

}  // namespace detail

/// The number of parameters of a layer or model: of all entries of its weights.
template <class Layer>
inline constexpr std::size_t parameter_count = detail::census<Layer>.numbers;
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

/// The numbers of all weights of a layer, in the order of weights(). Their paths go into `paths`, if it is given.
template <class Layer>
auto parameters(Layer& layer, std::vector<std::string>* paths = nullptr) {
  using Number = typename Layer::codomain::Real;
  using Real = std::conditional_t<std::is_const_v<Layer>, const Number, Number>;
  std::array<Parameter<Real>, weight_matrix_count<std::remove_const_t<Layer>>> weights;
  std::size_t k = 0;
  for_each_weight(
      [&](const Name& name, auto& weight) {
        weights[k++] = {weight.data(), weight.size / weight.cols, weight.cols, name.role};
        if (paths) paths->push_back(name.path());
      },
      layer);
  return weights;
}

/// All parameters become 0: what a gradient is before anything is added to it.
template <class Layer>
void zero_grad(Layer& layer) {
  for (const auto& weight : parameters(layer))
    std::fill(weight.begin(), weight.end(), typename Layer::codomain::Real(0));
}

/// The first part of type P of a layer, however deep: part<FeedForward<8, 16>>(block). The layer itself if it is a P.
template <class P, class Layer>
auto& part(Layer& layer) {
  std::conditional_t<std::is_const_v<Layer>, const P, P>* found = nullptr;
  const auto search = [&found](const auto& self, auto& candidate) -> void {
    using Candidate = std::remove_cvref_t<decltype(candidate)>;
    if constexpr (std::is_base_of_v<P, Candidate>) {
      if (!found) found = &candidate;
    } else if constexpr (HasParts<Candidate>) {
      Candidate::parts([&](std::size_t, auto& piece) { self(self, piece); }, candidate);
    }
  };
  search(search, layer);
  return *found;
}

}  // namespace tlm
