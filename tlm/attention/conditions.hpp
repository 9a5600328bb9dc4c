// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/attention/mask_and_bias.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/numbers/vector.hpp>

/// What the compiler reports if the parts of attention do not fit each other.
namespace tlm::detail {

/// The condition under which columns split into heads. A failure shows both numbers.
template <std::size_t d_model, std::size_t n_heads>
struct CanSplit : Condition {
  static_assert(n_heads > 0 && d_model % n_heads == 0,
                "n_heads divides d_model: every head has d_head = d_model / n_heads columns");
};

/// The width of a head, if CanSplit.
template <std::size_t d_model, std::size_t n_heads>
inline constexpr std::size_t head_width = n_heads > 0 ? d_model / n_heads : d_model;

/// The condition under which a Bias is one, for scores that are numbers of type Real. A failure shows it.
template <class Bias, class Real>
struct IsBias : Condition {
  static constexpr bool declares = rules::Leaf<Bias>;
  using Scores = decltype(as_vector(std::declval<Real*>(), 1));
  static constexpr bool adds = declares && requires(const Bias& b, std::size_t i, Scores s) { b.add(i, i, s); };
  static constexpr bool pulls_back = adds && requires(const Bias& b, std::size_t i, const Scores& s, Bias& gradient) {
    b.pull_back(i, i, s, gradient);
  };
  static_assert(declares, "a bias declares that it is a function of positions: using declared = tlm::is::Positional");
  static_assert(!declares || adds,
                "a bias is added to a row of scores: void add(std::size_t h, std::size_t i, auto s) const");
  static_assert(!adds || pulls_back,
                "a bias has a derivative: void pull_back(std::size_t h, std::size_t i, const auto& s_bar, Bias& "
                "gradient) const");
  static_assert(!pulls_back || HasWeights<Bias>,
                "a bias visits its weights like a layer: static constexpr void weights(auto&& visit, auto& bias)");
};

/// The condition under which these are the parts of attention. A failure shows them.
template <std::size_t n_heads, class Mask, class Q, class K, class V, class Bias>
struct IsAttention : Condition {
  static_assert(IsLayer<Q>::value && IsLayer<K>::value && IsLayer<V>::value);
  static_assert(CanSplit<K::codomain::cols, n_heads>::value && CanSplit<V::codomain::cols, n_heads>::value);
  static constexpr bool same_domain = std::is_same_v<typename Q::domain, typename K::domain>;
  static_assert(same_domain, "queries and keys are made of the same X: Q and K have the same domain");
  static_assert(!same_domain || std::is_same_v<typename Q::codomain, typename K::codomain>,
                "a query is multiplied by a key: Q and K have equally many columns, of the same kind of numbers");
  static_assert(std::is_same_v<typename Q::domain, typename V::domain>,
                "queries and values are made of the same X: Q and V have the same domain");
  static_assert(std::is_same_v<Mask, Unmasked> || !constant<K>,
                "a causal mask compares positions of one sequence: a query has none among the keys of a memory");
  static_assert(std::is_same_v<Bias, NoBias> || !constant<K>,
                "a bias is a function of two positions of one sequence: a query has none among the keys of a memory");
  static_assert(IsBias<Bias, typename K::codomain::Real>::value);
};

}  // namespace tlm::detail
