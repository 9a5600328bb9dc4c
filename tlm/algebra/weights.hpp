// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// The name of a part of a model: its symbol, within the part around it.
struct PartName {
  std::string_view symbol;
  std::size_t index = 0;            ///< From 1 within a Stack; 0 elsewhere.
  const PartName* outer = nullptr;  ///< The part around it, if there is one.
};

/// The name of a weight: its letter, within the parts of the model around it.
struct Name {
  std::string_view letter;  ///< Its own, as "A".
  Role role = Role::matrix;
  const PartName* within = nullptr;  ///< The innermost part around it, if there is one. Valid during the visit.

  /// A letter is a name, so that visit("A", layer.A...) says what visit(Name{"A"}, layer.A...) does.
  template <std::convertible_to<std::string_view> Letter>
  constexpr Name(const Letter& letter_, Role role_ = Role::matrix, const PartName* within_ = nullptr)
      : letter{letter_}, role{role_}, within{within_} {}

  /// action(part) for each part around the weight, the outermost first.
  constexpr void for_each_part(const auto& action) const {
    std::size_t count = 0;
    for (const PartName* part = within; part; part = part->outer) ++count;
    for (; count > 0; --count) {
      const PartName* part = within;
      for (std::size_t inner = 1; inner < count; ++inner) part = part->outer;
      action(*part);
    }
  }

  /// put(piece) for each piece of the path, one after the other: DB, _, 1, ., FF, ., A of "DB_1.FF.A".
  constexpr void spell(const auto& put) const {
    for_each_part([&](const PartName& part) {
      put(part.symbol);
      if (part.index > 0) {
        char digits[20]{};
        std::size_t first = std::size(digits);
        for (std::size_t rest = part.index; rest > 0; rest /= 10) digits[--first] = char('0' + rest % 10);
        put(std::string_view{"_"});
        put(std::string_view{digits + first, std::size(digits) - first});
      }
      put(std::string_view{"."});
    });
    put(letter);
  }

  /// As in "DB_1.FF.A".
  [[gnu::cold]] std::string path() const {
    std::string path;
    spell([&](std::string_view piece) { path += piece; });
    return path;
  }

  /// Whether this is the path.
  constexpr bool is(std::string_view path) const {
    bool same = true;
    spell([&](std::string_view piece) {
      same = same && path.starts_with(piece);
      if (same) path.remove_prefix(piece.size());
    });
    return same && path.empty();
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

/// The visitor of a whole, on its way through a part: it is told of each weight there with the name that it has in the
/// whole. Of one type however deep the part is, so that each type of layer is compiled once for a visitor, and not once for
/// each place.
template <class Visit>
struct Within {
  Visit& visit;
  PartName part;

  constexpr void operator()(const Name& name, auto&... weight) const {
    visit(Name{name.letter, name.role, &part}, weight...);
  }
};
/// The visitor on its way through a part of the whole, with this symbol and this place in a Stack.
template <class Visit>
constexpr Within<Visit> within(Visit& visit, std::string_view symbol, std::size_t index) {
  return {visit, {symbol, index}};
}
/// The same through a part of a part.
template <class Visit>
constexpr Within<Visit> within(Within<Visit>& around, std::string_view symbol, std::size_t index) {
  return {around.visit, {symbol, index, &around.part}};
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
            visit_weights<PartType>(within(visit, symbol_of<PartType>(), index), part, others...);
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

/// Counts the weights that it visits, and keeps a hash of the path of each (FNV-1a), if there is room for them.
struct PathHashes {
  std::uint64_t* hashes = nullptr;
  std::size_t count = 0;

  constexpr void operator()(const Name& name, auto&) {
    if (hashes) {
      std::uint64_t hash = 0xcbf29ce484222325;
      name.spell([&](std::string_view piece) {
        for (const char c : piece) hash = (hash ^ std::uint64_t(static_cast<unsigned char>(c))) * 0x100000001b3;
      });
      hashes[count] = hash;
    }
    ++count;
  }
};

/// The number of weight matrices of a layer or model.
template <class Layer>
inline constexpr std::size_t matrix_count = [] {
  PathHashes paths;
  visit_weights<Layer>(paths, imaginary<Layer>);
  return paths.count;
}();

/// The condition under which a path leads to one weight only. A failure shows the layer.
template <class Layer>
struct PathsAreUnique {
  static constexpr bool value = true;  // If not, the last line says so: once.
  static constexpr bool unique = [] {
    std::array<std::uint64_t, matrix_count<Layer> + 1> hashes{};
    visit_weights<Layer>(PathHashes{hashes.data()}, imaginary<Layer>);
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

/// The numbers of a weight, row by row, whatever its shape.
template <class Real>
struct WeightNumbers {
  Real* numbers;
  std::size_t rows, cols;
  Role role = Role::matrix;

  std::size_t size() const { return rows * cols; }
  /// All of them, as a vector that refers to them.
  auto entries() const { return as_vector(numbers, size()); }
  Real* begin() const { return numbers; }
  Real* end() const { return numbers + size(); }
};

/// Lists the numbers of the weights that it visits, and their paths if there is a list for them.
template <class Real>
struct WeightList {
  WeightNumbers<const Real>* next;
  std::vector<std::string>* paths;

  template <class Weight>
  void operator()(const Name& name, const Weight& weight) {
    add(name, {weight.data(), Weight::size / Weight::cols, Weight::cols, name.role});
  }

 private:
  [[gnu::noinline]] void add(const Name& name, const WeightNumbers<const Real>& weight) {
    *next++ = weight;
    if (paths) paths->push_back(name.path());
  }
};

/// The numbers of all weights of a layer, in the order of weights(), and their paths if there is a list for them. What is done
/// with numbers is compiled once, and not for each shape of a weight; and each type of layer once for all that is done with
/// them, and not for each visitor.
template <class Layer>
auto numbers_of(const Layer& layer, std::vector<std::string>* paths = nullptr) {
  static_assert(PathsAreUnique<Layer>::value);
  using Real = typename Layer::codomain::Real;
  std::array<WeightNumbers<const Real>, matrix_count<Layer>> weights;
  visit_weights<Layer>(WeightList<Real>{weights.data(), paths}, layer);
  return weights;
}
/// The same, to change them.
template <class Layer>
auto numbers_of(Layer& layer, std::vector<std::string>* paths = nullptr) {
  using Real = typename Layer::codomain::Real;
  std::array<WeightNumbers<Real>, matrix_count<Layer>> weights;
  std::size_t k = 0;
  for (const auto& [numbers, rows, cols, role] : numbers_of(std::as_const(layer), paths))
    weights[k++] = {const_cast<Real*>(numbers), rows, cols, role};  // of a layer that is not const
  return weights;
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
  for (const auto& weight : numbers_of(layer))
    std::fill(weight.begin(), weight.end(), typename Layer::codomain::Real(0));
}

}  // namespace tlm
