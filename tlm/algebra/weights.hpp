// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/algebra/stand_in.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/matrix/matrix.hpp>

/// The weights of a layer, visited and found by name.
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

/// Where the weight with a path stands among those of a layer, and its shape.
struct Place {
  std::size_t number, rows, cols;
};

/// The place of the weight with this path. The number is matrix_count if there is none.
template <class Layer>
consteval Place place_of(std::string_view path) {
  Place place{matrix_count<Layer>, 1, 1};
  std::size_t number = 0;
  visit_weights<Layer>(
      [&](const Name& name, auto& weight) {
        using Weight = std::remove_cvref_t<decltype(weight)>;
        if (name.is(path)) place = {number, Weight::size / Weight::cols, Weight::cols};
        ++number;
      },
      imaginary<Layer>);
  return place;
}

/// visit(name, weight, …) for every weight of `layer`, and the corresponding ones of the `others`.
template <class Layer, class Visit, class... Others>
void for_each_weight(Visit&& visit, Layer& layer, Others&... others) {
  static_assert((std::is_same_v<std::remove_const_t<Layer>, std::remove_const_t<Others>> && ...),
                "weights are visited together only in layers of the same type");
  static_assert(PathsAreUnique<std::remove_const_t<Layer>>::value);
  visit_weights<std::remove_const_t<Layer>>(visit, layer, others...);
}

/// How far a text is from a path: Levenshtein's distance, where a character that is put in counts 1, and one that is taken
/// out or replaced 2, as what is forgotten of a path is often its beginning.
template <std::size_t size>
constexpr std::size_t edits_between(const char (&text)[size], const Name& name) {
  std::size_t row[size]{};  // of his table: for the first j characters of the text, and those of the path so far
  for (std::size_t j = 0; j < size; ++j) row[j] = 2 * j;
  name.spell([&](char c) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j < size; ++j) {
      const std::size_t least = std::min({row[j - 1] + 2, row[j] + 1, diagonal + (text[j - 1] == c ? 0 : 2)});
      diagonal = row[j];
      row[j] = least;
    }
  });
  return row[size - 1];
}

/// A path, letter by letter, as every compiler shows it.
template <char... c>
struct WeightPath {
  static constexpr Symbol<sizeof...(c) + 1> symbol{{c..., '\0'}};
};

/// The path of a layer's weight that is nearest to this one, where this one is none of its paths.
template <Symbol path, class Layer, bool is_there = (place_of<Layer>(path).number < matrix_count<Layer>)>
struct NearestPath {
  static constexpr std::size_t number = [] {
    std::size_t nearest = 0, least = static_cast<std::size_t>(-1), number = 0;
    visit_weights<Layer>(
        [&](const Name& name, auto&) {
          if (const std::size_t count = edits_between(path.text, name); count < least) nearest = number, least = count;
          ++number;
        },
        imaginary<Layer>);
    return nearest;
  }();

  /// put(c) for each of its characters.
  static constexpr void spell(const auto& put) {
    std::size_t visited = 0;
    visit_weights<Layer>(
        [&](const Name& name, auto&) {
          if (visited++ == number) name.spell(put);
        },
        imaginary<Layer>);
  }
  static constexpr std::size_t length = [] {
    std::size_t count = 0;
    spell([&](char) { ++count; });
    return count;
  }();
  static constexpr std::array<char, length> text = [] {
    std::array<char, length> characters{};
    std::size_t next = 0;
    spell([&](char c) { characters[next++] = c; });
    return characters;
  }();

  template <std::size_t... k>
  static WeightPath<text[k]...> letter_by_letter(std::index_sequence<k...>);
  using Letters = decltype(letter_by_letter(std::make_index_sequence<length>{}));
};

template <Symbol path, class Layer>
struct NearestPath<path, Layer, true> {
  using Letters = WeightPath<>;
};

/// The condition under which a layer has a weight with a path. A failure shows both, and the nearest path that there is.
template <Symbol path, class Nearest, class Layer>
struct HasWeight {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(
      place_of<Layer>(path).number < matrix_count<Layer>,
      "the layer has no weight with this path: it has the WeightPath beside it; for_each_weight visits all, with "
      "Name::path() of each");
};

/// The weight with a path, or the nearest if there is none.
template <Symbol path, class Layer>
struct SoughtWeight {
  using Nearest = typename NearestPath<path, Layer>::Letters;
  static_assert(HasWeight<path, Nearest, Layer>::value);
  static constexpr Place place = place_of<Layer>(
      std::is_same_v<Nearest, WeightPath<>> ? std::string_view(path) : std::string_view(Nearest::symbol));
  using Weight = Matrix<place.rows, place.cols, typename Layer::codomain::Real>;
};
template <Symbol path, class Layer>
struct SoughtWeight<path, const Layer> : SoughtWeight<path, Layer> {
  using Weight = const typename SoughtWeight<path, Layer>::Weight;
};

/// The weight with a path, as in weight<"DB_1.FF.A">(model).
template <Symbol path, class Layer>
typename SoughtWeight<path, Layer>::Weight& weight(Layer& layer) {
  using S = SoughtWeight<path, Layer>;
  constexpr Place place = S::place;
  typename S::Weight* found = nullptr;
  std::size_t number = 0;
  for_each_weight(
      [&]<class W>(const Name&, W& candidate) {
        if constexpr (std::is_convertible_v<W*, typename S::Weight*>)  // of Matrix<2, 3>, which is one of them, too
          if (number == place.number) found = &candidate;
        ++number;
      },
      layer);
  return *found;
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
