// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/algebra/symbol.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/matrix/matrix.hpp>

/// A weight of a layer, found by its path in the write-up: weight<"DB_1.FF.A">(model).
namespace tlm {

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

/// How far a text is from a path: Levenshtein's distance, where a character that is put in counts 1, and one that is taken
/// out or replaced 2, as what is forgotten of a path is often its beginning.
template <std::size_t size>
constexpr std::size_t edits_between(const char (&text)[size], const Name& name) {
  std::size_t row[size]{};  // of his table: for the first j characters of the text, and those of the path so far
  for (std::size_t j = 0; j < size; ++j) row[j] = 2 * j;
  name.spell([&](std::string_view piece) {
    for (const char c : piece) {
      std::size_t diagonal = row[0]++;
      for (std::size_t j = 1; j < size; ++j) {
        const std::size_t least = std::min({row[j - 1] + 2, row[j] + 1, diagonal + (text[j - 1] == c ? 0 : 2)});
        diagonal = row[j];
        row[j] = least;
      }
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

  /// put(piece) for each piece of it.
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
    spell([&](std::string_view piece) { count += piece.size(); });
    return count;
  }();
  static constexpr std::array<char, length> text = [] {
    std::array<char, length> characters{};
    auto next = characters.begin();
    spell([&](std::string_view piece) { next = std::copy(piece.begin(), piece.end(), next); });
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
  static_assert(place_of<Layer>(path).number < matrix_count<Layer>,
                "the layer has no weight with this path; the nearest is the WeightPath that stands with HasWeight; "
                "for_each_weight visits all, with Name::path() of each");
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

}  // namespace tlm
