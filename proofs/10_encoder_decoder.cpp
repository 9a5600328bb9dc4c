// Claim 10, of the encoder–decoders. Without positional encoding the encoder is equivariant under permutations of the
// positions: E(PX) = P E(X), so that it cannot see order; and it is not autoregressive. The decoder D(y; M) is
// autoregressive in y and unrestricted in the memory M: every row may depend on every row of M. The rows of the
// formulated model are probability vectors. Sequences of a batch do not affect each other, whatever their lengths and those
// of their memories. Each pullback is the transpose of the derivative.
// (The Formulated Transformer, "Definition" and "Forward pass"; the NumPy notebook, "Positional encoding", "Masked
// decoding" and "Cross-attention". Its class builds the causal mask upside down, and every gradient check passes all the
// same: the control.)
//
// Derivation. Attention without a mask is a sum over all keys, which has no order; everything else in the encoder is
// rowwise. In the decoder the masked attention is autoregressive (claim 3), cross-attention is A(Y)×B with B from the
// memory alone and row i of A(Y) from row i of Y, and the rest is rowwise (claim 1).

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "checks.hpp"
#include "controls.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

inline constexpr formulated::Config f{
    .s = vocab_size, .d_model = d_model, .d_ff = d_ff, .d_k = 3, .d_v = 2, .h = 2, .N = 2, .max_len = max_len};
inline constexpr numpy::Config toy{
    .src_vocab_size = vocab_size, .tgt_vocab_size = vocab_size, .h = 2, .max_len = max_len};

template <class Real>
using Rows = Matrix<n, d_model, Real>;
template <class Real>
using FormulatedEncoderLayers = Stack<formulated::EncoderLayer<f, Real>, 2>;
template <class Real>
using NumpyEncoderBlocks = Stack<numpy::EncoderBlock<toy, Real>, 2>;
template <class Real>
using FormulatedDecoderLayers = Stack<formulated::DecoderLayer<f, Real>, 2>;
template <class Real>
using NumpyDecoderBlocks = Stack<numpy::DecoderBlock<toy, Real>, 2>;
template <class Real>
using FormulatedModel = formulated::Transformer<f, Real>;
template <class Real>
using NumpyModel = numpy::Transformer<toy, Real>;

static_assert(!autoregressive<FormulatedEncoderLayers<double>> && !autoregressive<NumpyEncoderBlocks<double>>);
static_assert(autoregressive<FormulatedDecoderLayers<double>> && !rowwise<FormulatedDecoderLayers<double>>);
static_assert(autoregressive<NumpyDecoderBlocks<double>> && !rowwise<NumpyDecoderBlocks<double>>);
static_assert(autoregressive<FormulatedModel<double>> && autoregressive<NumpyModel<double>>);

/// A maximum is the only function here for which the order of its arguments could matter, and it is symmetric.
template <template <class> class Layers>
bool is_equivariant(std::uint64_t seed) {
  return redrawing(seed, [](Generator& generator) {
    const auto layers = draw_layer<Layers<PrimeField>>(generator);
    const auto X = draw_matrix<Rows<PrimeField>>(Sequences{4}, generator);
    const auto Y = layers(X);
    std::vector<std::size_t> order{0, 1, 2, 3};
    while (std::next_permutation(order.begin(), order.end())) {
      Rows<PrimeField> permuted{Sequences{4}}, expected{Sequences{4}};
      for (std::size_t i = 0; i < 4; ++i) {
        permuted.set_row(i, X.row(order[i]));
        expected.set_row(i, Y.row(order[i]));
      }
      if (!(layers(permuted) == expected)) return false;
    }
    return true;
  });
}

/// The decoder's layers with its own mask or another, as operations on y in the environment of a memory.
template <template <class> class Layers>
std::optional<std::pair<std::size_t, std::size_t>> first_leak(std::uint64_t seed) {
  using T = Layers<PrimeField>;
  return redrawing(seed, [](Generator& generator) -> std::optional<std::pair<std::size_t, std::size_t>> {
    const auto layers = draw_layer<T>(generator);
    const Memory<Rows<PrimeField>> memory{draw_matrix<Rows<PrimeField>>(Sequences{3}, generator)};
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      const auto Y = draw_matrix<Rows<PrimeField>>(Sequences{n}, generator);
      const auto whole = layers(Y, memory);
      for (std::size_t i = 1; i <= n; ++i)
        if (!(layers(Y | i, memory) == (whole | i))) return std::pair{n, i};
    }
    return std::nullopt;
  });
}

/// The NumPy class's decoder block, whose mask is upside down.
template <class Real>
struct UpsideDownBlock : numpy::DecoderBlock<toy, Real> {
  template <class... Entries>
  Rows<Real> operator()(const Rows<Real>& Y, const Entries&... entries) const {
    const auto& upright = static_cast<const numpy::DecoderBlock<toy, Real>&>(*this);
    return reversed(upright(reversed(Y), entries...));  // it reverses the rows, not what is seen of the memory
  }
};

/// Which rows of y and of the memory each row of the decoder's output depends on: the memory's rows carry the tags of dY.
template <template <class> class Layers>
void check_dependencies() {
  using T = Layers<Positions>;
  Generator generator{0};
  const auto layers = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= greatest_n; ++n)
    for (std::size_t m = 1; m <= 3; ++m) {
      Memory<Rows<Positions>> memory{Rows<Positions>{Sequences{m}}};
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < d_model; ++j) memory.rows(i, j) = Positions::codomain_position(i);
      const auto Y = layers(tagged<Rows<Positions>>(Sequences{n}), memory);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d_model; ++j) {
          CHECK((Y(i, j).tags() & 0xffffffff) == (std::uint64_t{2} << i) - 1);  // the rows 1, …, i of y
          CHECK((Y(i, j).tags() >> 32) == (std::uint64_t{1} << m) - 1);         // all rows of the memory
        }
    }
}

/// Whether a model of a stack is the stack of the model.
template <template <class> class Model>
bool sequences_are_independent(std::uint64_t seed) {
  return redrawing(seed, [](Generator& generator) {
    using T = Model<PrimeField>;
    const auto model = draw_layer<T>(generator);
    std::vector<Tokens> x, y;
    std::vector<typename T::codomain> alone;
    for (const auto& [source, target] : {std::pair{3, 1}, std::pair{1, 4}, std::pair{5, 2}}) {
      x.push_back(draw_matrix<Tokens>(Sequences{std::size_t(source)}, generator));
      y.push_back(draw_matrix<Tokens>(Sequences{std::size_t(target)}, generator));
      alone.push_back(model({x.back(), y.back()}));
    }
    return model({stack(x), stack(y)}) == stack(alone);
  });
}

/// The rows of y and of the memory in which sequence s has the number of[s] everywhere.
template <class Real>
Rows<Real> filled(const Sequences& sequences, const std::vector<Real>& of) {
  Rows<Real> X{sequences};
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t e = sequences.begin(s) * d_model; e < sequences.end(s) * d_model; ++e) X.data()[e] = of[s];
  return X;
}

/// Whether the first sequence of a stack stays the same bit for bit when NaN fills the other and its memory.
template <template <class> class Layers, class Real>
bool nan_stays_where_it_is(std::uint64_t seed) {
  Generator generator{seed};
  const auto layers = draw_layer<Layers<Real>>(generator);
  const auto of_y = Sequences::of_lengths({3, 2}), of_memory = Sequences::of_lengths({1, 4});
  auto Y = draw_matrix<Rows<Real>>(of_y, generator);
  Memory<Rows<Real>> memory{draw_matrix<Rows<Real>>(of_memory, generator)};
  const auto before = sequence(layers(Y, memory), 0);
  constexpr Real NaN = std::numeric_limits<Real>::quiet_NaN();
  std::fill(&Y(of_y.begin(1), 0), Y.data() + Y.rows() * d_model, NaN);
  std::fill(&memory.rows(of_memory.begin(1), 0), memory.rows.data() + memory.rows.rows() * d_model, NaN);
  return sequence(layers(Y, memory), 0) == before;
}

/// Whether the rows of each sequence of a stack depend on that sequence and its memory only, for every input and weight.
template <template <class> class Layers>
bool sequences_see_themselves() {
  Generator generator{0};
  const auto layers = draw_layer<Layers<Positions>>(generator);
  const std::vector<Positions> tags{Positions::position(0), Positions::position(1)};
  const auto of_y = Sequences::of_lengths({3, 2});
  const Memory<Rows<Positions>> memory{filled(Sequences::of_lengths({1, 4}), tags)};
  return layers(filled(of_y, tags), memory) == filled(of_y, tags);
}

/// ⟨Jv, w⟩ − ⟨v, Jᵀw⟩ for v in the weight space, exactly.
template <template <class> class Model>
PrimeField transpose_defect(std::uint64_t seed) {
  return redrawing(seed, [](Generator& generator) {
    using T = Model<PrimeField>;
    T model, v, gradient;
    Model<Dual<PrimeField>> dual_model;
    std::vector<Dual<PrimeField>*> dual_weights;
    for_each_weight(
        [&](const Name&, auto& w) {
          for (std::size_t e = 0; e < w.size; ++e) dual_weights.push_back(w.data() + e);
        },
        dual_model);
    auto next = dual_weights.begin();
    for_each_weight(
        [&]<class Weight>(const Name&, Weight& w, Weight& direction) {
          for (std::size_t e = 0; e < Weight::size; ++e) {
            w.data()[e] = PrimeField::random(generator);
            direction.data()[e] = PrimeField::random(generator);
            **next++ = {w.data()[e], direction.data()[e]};
          }
        },
        model, v);
    const Tokens x = stack<1, Token>({Tokens{1, 2, 0}, Tokens{4}}), y = stack<1, Token>({Tokens{3}, Tokens{1, 2}});
    const auto dual_Y = dual_model({x, y});
    const auto w = draw_matrix<typename T::codomain>(y.sequences(), generator);
    PrimeField defect(0);
    for (std::size_t e = 0; e < w.rows() * T::codomain::cols; ++e) defect += dual_Y.data()[e].tangent * w.data()[e];
    model.value_and_pullback({x, y}).pullback(w, gradient);
    for_each_weight(
        [&]<class Weight>(const Name&, const Weight& direction, const Weight& g) {
          for (std::size_t e = 0; e < Weight::size; ++e) defect -= direction.data()[e] * g.data()[e];
        },
        v, gradient);
    return defect;
  });
}

}  // namespace

TEST_CASE("without positional encoding the encoder is equivariant under permutations: E(PX) = P E(X)") {
  CHECK(is_equivariant<FormulatedEncoderLayers>(1));
  CHECK(is_equivariant<NumpyEncoderBlocks>(2));
}

TEST_CASE("with it, it is not; and no causal layer is") {
  CHECK(!is_equivariant<PE>(3));
  CHECK(!is_equivariant<CA>(4));
}

TEST_CASE("the encoder is not autoregressive: the first of two rows sees the second") {
  for (const Verdict& verdict : {autoregressive_verdict<FormulatedEncoderLayers>("the formulated encoder"),
                                 autoregressive_verdict<NumpyEncoderBlocks>("the NumPy notebook's encoder")})
    for (const auto& failure : {verdict.a, verdict.b, verdict.c, verdict.d}) {
      REQUIRE(failure);
      CHECK(failure->n == 2);
      CHECK(failure->i == 1);
    }
}

TEST_CASE("the decoder is autoregressive in y: exactly, over the prime field") {
  CHECK(!first_leak<FormulatedDecoderLayers>(5));
  CHECK(!first_leak<NumpyDecoderBlocks>(6));
}

TEST_CASE("row i of the decoder depends on the rows 1, …, i of y and on all rows of the memory, and on no others") {
  check_dependencies<FormulatedDecoderLayers>();
  check_dependencies<NumpyDecoderBlocks>();
}

TEST_CASE("later rows of y, NaN and ±∞ included, leave the earlier rows of the decoder the same bit for bit") {
  Generator generator{7};
  const auto layers = draw_layer<NumpyDecoderBlocks<double>>(generator);
  const Memory<Rows<double>> memory{draw_matrix<Rows<double>>(Sequences{3}, generator)};
  const auto Y = draw_matrix<Rows<double>>(Sequences{greatest_n}, generator);
  const auto whole = layers(Y, memory);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double poison : {7.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
    for (std::size_t i = 1; i < greatest_n; ++i) {
      auto poisoned = Y;
      for (std::size_t e = i * d_model; e < greatest_n * d_model; ++e) poisoned.data()[e] = poison;
      CHECK((layers(poisoned, memory) | i) == (whole | i));
    }
}

TEST_CASE("every row of the formulated model sums to 1: exactly, over the prime field") {
  redrawing(8, [](Generator& generator) {
    const auto model = draw_layer<FormulatedModel<PrimeField>>(generator);
    const auto Y = model({Tokens{1, 2, 3}, Tokens{0, 4}});
    for (std::size_t i = 0; i < Y.rows(); ++i) CHECK(total(Y.row(i)) == PrimeField(1));
    return true;
  });
}

TEST_CASE("the sequences of a batch do not affect each other, whatever their lengths and those of their sources") {
  CHECK(sequences_are_independent<FormulatedModel>(9));
  CHECK(sequences_are_independent<NumpyModel>(10));
  CHECK(nan_stays_where_it_is<FormulatedDecoderLayers, float>(9));
  CHECK(nan_stays_where_it_is<NumpyDecoderBlocks, double>(10));
  CHECK(sequences_see_themselves<FormulatedDecoderLayers>());
  CHECK(sequences_see_themselves<NumpyDecoderBlocks>());
}

TEST_CASE("the pullbacks of both models are the transposes of their derivatives: exactly, over the prime field") {
  CHECK(transpose_defect<FormulatedModel>(11) == PrimeField(0));
  CHECK(transpose_defect<NumpyModel>(12) == PrimeField(0));
}

TEST_CASE("control: the mask upside down, as in the NumPy notebook's class, is no decoder: it falls at n = 2, i = 1") {
  const auto leak = first_leak<UpsideDownBlock>(13);
  REQUIRE(leak);
  CHECK(*leak == std::pair<std::size_t, std::size_t>{2, 1});
}
