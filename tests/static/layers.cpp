// SPDX-License-Identifier: MIT
// What makes a struct a layer, and that a pullback can be moved but not copied.
#include <type_traits>
#include <utility>

#include "../shapes.hpp"

using namespace tlm;
using namespace tlm::tests;

// --- The concept -----------------------------------------------------------------------------------------------------

template <class F>
using PullbackOf = decltype(std::declval<const F&>().value_and_pullback(std::declval<typename F::domain>()).pullback);

/// Every layer of a list has its faces, and a pullback that can be moved and not copied.
template <class List>
constexpr bool layers = false;
template <class... F>
constexpr bool layers<std::tuple<F...>> = (Layer<F> && ...) &&
                                          (std::is_nothrow_move_constructible_v<PullbackOf<F>> && ...) &&
                                          !(std::is_copy_constructible_v<PullbackOf<F>> || ...) &&
                                          !(std::is_copy_assignable_v<PullbackOf<F>> || ...);
static_assert(layers<LayersInDouble>);
// It keeps no reference to what computes it, nor a vector one to a matrix that ends.
static_assert(std::is_same_v<decltype(with_pullback(Nothing{}, std::declval<const Nothing&>())),
                             detail::Result<Nothing, detail::Pullback<Nothing>>>);
template <class M>
constexpr bool has_rows = requires {
  std::declval<M>().row(0), std::declval<M>().entries();
};
static_assert(has_rows<const Matrix<n, 2>&> && !has_rows<Matrix<n, 2>> && !has_rows<const Matrix<n, 2>>);

using Same = Identity<3>;
static_assert(Layer<Same>);

// What is missing, with the sentences: tests/compile_fail.
struct FromNothing : Same {
  FromNothing() = delete;
};
static_assert(!Layer<FromNothing>);

struct OfAnotherValue : Same {
  Matrix<n, 4> operator()(const domain& X) const { return Matrix<n, 4>{X.sequences()}; }
};
static_assert(!Layer<OfAnotherValue>);

struct OfAnotherCotangent : Same {
  auto value_and_pullback(domain X) const {
    return with_pullback(std::move(X), [](const codomain&, OfAnotherCotangent&) { return Nothing{}; });
  }
};
static_assert(!Layer<OfAnotherCotangent>);

// One that reads an item needs it.
using Reader = TiedOutput<"W", 7, 3>;
static_assert(Layer<Reader> && Layer<Dropout<10, 3>>);
static_assert(!detail::LeafReading<Reader> && detail::LeafReading<Reader, Reader::reads> &&
              !detail::LeafReading<Reader, TiedWeight<"V", 7, 3>>);

// What is made of others is a layer if all of them are.
static_assert(Layer<Composition<Same, Res<Same>>> && Layer<Concat<Same, Stack<Same, 2>>>);

// --- Names and states -------------------------------------------------------------------------------------------------

constexpr Config config{.vocab_size = 11, .d_model = 8};

// A name is a type of its own: it is deduced, and its gradient is of that type.
template <Config c, class Real>
constexpr std::size_t heads_of(const TransformerLM<c, Real>*) {
  return c.n_heads;
}
static_assert(heads_of(static_cast<TransformerLM<config>*>(nullptr)) == 8);

// A rowwise layer remembers nothing of the rows that it has seen; PE and attention do.
static_assert(std::is_same_v<State<FeedForward<8, 16>>, Nothing>);
static_assert(!std::is_same_v<State<PositionalEncoding<7, 8>>, Nothing>);
static_assert(!std::is_same_v<State<CausalAttention<8, 2>>, Nothing>);
static_assert(std::is_same_v<State<Concat<FeedForward<8, 16>, Times<"W", 8, 4>>>, Nothing>);
static_assert(!std::is_same_v<State<Concat<FeedForward<8, 16>, PositionalEncoding<7, 8>>>, Nothing>);
