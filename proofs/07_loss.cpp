// SPDX-License-Identifier: MIT
// Claim 7. Let X = (0, x_1, …, x_n) and Y = LogSoftmax(T(X)|n) for an autoregressive T. Then Y[1] depends on nothing
// and Y[k] on x_1, …, x_{k−1} only. The loss of a batch is −Σω_ji y_ji / Σω_ji. If only one row has weights, it is
// the loss of that single sequence. It equals the mean of the rows' losses if their weights have equal sums ≠ 0, and
// not in general. It is ≥ 0 if no ω is negative and Σω > 0. As a function of the weights it is differentiable, except
// where a ReLU is at 0. At σ = 0 there is no exception: the root in the standard deviation has no derivative there,
// but N has one. (Article, "Evaluation (the loss function)", to its Claim about differentiability, whose proof names
// only ReLU. "y_k < 0" and "loss > 0" there are ≤ 0 and ≥ 0 for a vocabulary of one token, or by rounding.)
//
// Derivation. Row k of T(X)|n depends on (0, x_1, …, x_{k−1}), the rows 1, …, k of X. If Σ_i ω_ji = c for each of s
// rows, the denominator is sc. y ≤ 0, because it is the logarithm of a probability. For u ↦ u/(σ(u) + ε) at u = 0:
// u/(σ(u) + ε) = u/ε + O(|u|²).
//
// So the loss is differentiable almost everywhere, as the article claims. Apart from ReLU it is differentiable
// everywhere. The argument of each ReLU, in row i and column j of one FF, is g + K_j, where g does not depend on K_j.
// The weights at which it is 0 are the graph K_j = −g over all other weights, which is a null set. For one batch there
// are finitely many such sets.

#include <doctest/doctest.h>

#include <algorithm>

#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// −Σω y/Σω over the field, for given outputs T(X)|n.
PrimeField loss_of(const Matrix<n, vocab_size, PrimeField>& Z, const Tokens& x, const Matrix<n, 1, PrimeField>& omega) {
  return cross_entropy(log_softmax(Z), x, omega, sum_of(omega));
}

/// A batch of outputs, tokens and weights: three sequences of 4 tokens.
struct Drawn {
  Matrix<n, vocab_size, PrimeField> Z;
  Tokens x;
  Matrix<n, 1, PrimeField> omega;

  explicit Drawn(Generator& generator)
      : Z{draw_matrix<Matrix<n, vocab_size, PrimeField>>(sequences(), generator)},
        x{draw_matrix<Tokens>(sequences(), generator)},
        omega{draw_matrix<Matrix<n, 1, PrimeField>>(sequences(), generator)} {}

  /// The loss of each row alone, averaged.
  PrimeField mean_over_rows() const {
    const std::size_t s = x.sequences().count();
    PrimeField sum(0);
    for (std::size_t j = 0; j < s; ++j) sum += loss_of(sequence(Z, j), sequence(x, j), sequence(omega, j));
    return sum / PrimeField(s);
  }

 private:
  static Sequences sequences() { return Sequences::of_lengths({4, 4, 4}); }
};

/// Five sequences of random tokens and weights.
Batch<PrimeField> batch_of_five(Generator& generator) {
  const auto lengths = Sequences::of_lengths({2, 1, 3, 1, 2});
  const auto x = draw_matrix<Tokens>(lengths, generator);
  return {0, x, draw_matrix<Matrix<n, 1, PrimeField>>(lengths, generator)};
}

/// Requires that two gradients of T_LM are the same.
void must_be_same(const T_LM<PrimeField>& left, const T_LM<PrimeField>& right) {
  const auto of_left = parameters(left), of_right = parameters(right);
  for (std::size_t k = 0; k < of_left.size(); ++k)
    CHECK_MESSAGE(std::equal(of_left[k].begin(), of_left[k].end(), of_right[k].begin(),
                             [](PrimeField l, PrimeField r) { return same(l, r); }),
                  std::string(of_left[k].path));
}

/// The loss of random outputs of 4 rows in double, of which one weighs nothing: its derivative in one direction v by dual
/// numbers, and ⟨gradient, v⟩. Both are for a distribution q of the tokens.
struct AlongDirection {
  Matrix<n, vocab_size, double> Z, v;
  Tokens x;
  Matrix<n, 1, double> omega{0.25, 1, 0, 0.5};

  explicit AlongDirection(Generator generator)
      : Z{draw_matrix<Matrix<n, vocab_size, double>>(Sequences{4}, generator)},
        v{draw_matrix<Matrix<n, vocab_size, double>>(Sequences{4}, generator)},
        x{draw_matrix<Tokens>(Sequences{4}, generator)} {}

  double derivative(const auto& q) const {
    Matrix<n, vocab_size, Dual<double>> dual_Z{Sequences{4}};
    Matrix<n, 1, Dual<double>> dual_omega{Sequences{4}};
    for (std::size_t e = 0; e < 4 * vocab_size; ++e) dual_Z.data()[e] = {Z.data()[e], v.data()[e]};
    for (std::size_t i = 0; i < 4; ++i) dual_omega(i, 0) = {omega(i, 0), 0};
    return cross_entropy(log_softmax(dual_Z), x, dual_omega, sum_of(dual_omega), q).tangent;
  }
  double by_gradient(const auto& q) const {
    const auto Z_bar = cross_entropy_gradient(log_softmax(Z), x, omega, sum_of(omega), q);
    return sum_of(Z_bar.entries() * v.entries());
  }
};

}  // namespace

TEST_CASE(
    "Y = LogSoftmax(T(0, x_1, …, x_n)|n): Y[1] depends on no x_k; for random weights Y[k] depends on each of x_1, …, "
    "x_{k−1}, and on no other token: T_LM, exactly over the prime field, n ≤ 6") {
  redrawing(1, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      const auto x = draw_matrix<Tokens>(Sequences{n}, generator);
      const auto Y = log_softmax(model(detail::after_start(0, x)));
      for (std::size_t k = 1; k <= n; ++k) {
        auto other = x;
        for (std::size_t later = k - 1; later < n; ++later) other(later, 0) = (x(later, 0) + 1) % int(vocab_size);
        must_be_equal("Y[k] depends on x_1, …, x_{k−1} only", "T_LM",
                      log_softmax(model(detail::after_start(0, other))) | k, Y | k, 1);
        for (std::size_t earlier = 0; earlier + 1 < k; ++earlier) {
          auto changed = x;
          changed(earlier, 0) = (x(earlier, 0) + 1) % int(vocab_size);
          INFO("n = ", n, ", Y[", k, "] and x_", earlier + 1);
          REQUIRE(!same(rows(log_softmax(model(detail::after_start(0, changed))), k - 1, 1), rows(Y, k - 1, 1)));
        }
      }
    }
    return true;
  });
}

TEST_CASE(
    "Y[k] depends on no other tokens than x_1, …, x_{k−1}: T_LM of this shape with all finite weights, over "
    "sets of "
    "positions, n ≤ 6" *
    doctest::description("rows_depend_on_the_past, T_LM_is_autoregressive, LogSoftmax_is_rowwise")) {
  Generator generator{0};
  const auto behind_Em = draw_layer<BehindEm<Dependencies>>(generator);
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    Matrix<tlm::n, d_model, Dependencies> X{Sequences{n}};
    for (std::size_t i = 0; i < n; ++i)  // row i + 1 belongs to x_i, and row 1 to the token 0
      for (std::size_t j = 0; j < d_model; ++j) X(i, j) = i == 0 ? Dependencies(1) : Dependencies::position(i - 1);
    const auto Y = log_softmax(behind_Em(X));
    for (std::size_t k = 1; k <= n; ++k)
      for (std::size_t j = 0; j < vocab_size; ++j) {
        INFO("n = ", n, ", k = ", k, ", column ", j + 1, ": it depends on the tokens ", shown(Y(k - 1, j)));
        REQUIRE((Y(k - 1, j).tags() >> (k - 1)) == 0);
      }
  }
}

TEST_CASE(
    "T(X)|n = T(X|n): the row after the last token need not be computed (T_LM, exactly over the prime field, n = 4)" *
    doctest::description("loss_reads_the_first_rows")) {
  redrawing(2, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const Tokens x{3, 1, 4, 2}, X{0, 3, 1, 4, 2};
    must_be_equal("T(X)|n = T(X|n)", "T_LM", model(detail::after_start(0, x)), model(X) | 4, 2);
    return true;
  });
}

TEST_CASE(
    "the loss of a single sequence is −(1/n)Σ_k y_k with y_k = LogSoftmax(T(X)|n)_k at x_k: T_LM in double, n = 4" *
    doctest::description("loss_of_a_single_sequence")) {
  Generator generator{9};
  const auto model = draw_layer<T_LM<double>>(generator);
  const Tokens x{3, 1, 4, 2};
  const auto Y = log_softmax(model(detail::after_start(0, x)));
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) sum += Y(k, std::size_t(x(k, 0)));
  CHECK(std::abs(loss(model, unweighted<double>(0, x)) + sum / 4) < 1e-14);
}

TEST_CASE(
    "the loss of a batch is that of a single sequence if the loss weights of all others are 0: exactly over the "
    "prime field, 3 sequences, its own being 1" *
    doctest::description("loss_of_a_single_row")) {
  redrawing(3, [](Generator& generator) {
    Drawn batch{generator};
    const auto& sequences = batch.x.sequences();
    for (std::size_t j = 0; j < sequences.count(); ++j) {
      for (std::size_t i = 0; i < batch.omega.rows(); ++i)
        batch.omega(i, 0) = PrimeField(int(i >= sequences.begin(j) && i < sequences.end(j)));
      CHECK(same(loss_of(batch.Z, batch.x, batch.omega),
                 loss_of(sequence(batch.Z, j), sequence(batch.x, j), sequence(batch.omega, j))));
    }
    return true;
  });
}

TEST_CASE(
    "the loss of a batch is the mean of the sequences' losses if their loss weights have equal sums ≠ 0: exactly over "
    "the prime field, 3 sequences" *
    doctest::description("loss_of_batch_is_the_mean")) {
  redrawing(4, [](Generator& generator) {
    Drawn batch{generator};
    const auto& sequences = batch.x.sequences();
    const PrimeField c = PrimeField::random(generator);
    for (std::size_t j = 0; j < sequences.count(); ++j) {  // the last weight makes the sum c
      PrimeField last = c;
      for (std::size_t i = sequences.begin(j); i + 1 < sequences.end(j); ++i) last -= batch.omega(i, 0);
      batch.omega(sequences.end(j) - 1, 0) = last;
    }
    CHECK(same(loss_of(batch.Z, batch.x, batch.omega), batch.mean_over_rows()));
    return true;
  });
}

TEST_CASE(
    "the loss of a batch is not the mean of the sequences' losses in general: a counter-example over the prime field" *
    doctest::description("loss_of_batch_is_not_the_mean_in_general")) {
  redrawing(5, [](Generator& generator) {
    const Drawn batch{generator};
    CHECK(!same(loss_of(batch.Z, batch.x, batch.omega), batch.mean_over_rows()));
    return true;
  });
}

TEST_CASE(
    "the loss is ≥ 0 if ω ≥ 0 and Σω > 0 (100 draws of T_LM and ω in double), and = 0 for a vocabulary of one "
    "token" *
    doctest::description("loss_of_scores_is_nonnegative, loss_is_nonnegative, loss_of_one_token")) {
  Generator generator{6};
  for (int draws = 0; draws < 100; ++draws) {
    const auto model = draw_layer<T_LM<double>>(generator);
    Matrix<n, 1, double> omega{Sequences{4}};
    for (std::size_t i = 0; i < 4; ++i) omega(i, 0) = generator.uniform();
    REQUIRE(loss(model, Batch<double>{0, draw_matrix<Tokens>(Sequences{4}, generator), omega}) >= 0);
  }
  constexpr Config one_token{.vocab_size = 1, .d_model = 2, .d_ff = 2, .n_layers = 1, .n_heads = 1, .max_len = 4};
  CHECK(loss(draw_layer<TransformerLM<one_token, double>>(generator), unweighted<double>(0, Tokens{0, 0, 0})) == 0);
}

TEST_CASE(
    "y = LogSoftmax(z) is ≤ 0 and its exponentials sum to 1; for two tokens or more y < 0, so that the loss, without "
    "loss weights, is > 0: in "
    "double within 1e-14, 100 draws of 4 rows" *
    doctest::description("LogSoftmax_formula, log_probabilities_are_nonpositive, log_probabilities_are_negative, "
                         "probabilities_sum_to_1, loss_of_scores_is_positive")) {
  Generator generator{18};
  for (int draws = 0; draws < 100; ++draws) {
    const auto Z = draw_matrix<Matrix<n, vocab_size, double>>(Sequences{4}, generator);
    const auto Y = log_softmax(Z);
    for (std::size_t k = 0; k < 4; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < vocab_size; ++j) {
        REQUIRE(Y(k, j) < 0);
        sum += std::exp(Y(k, j));
      }
      REQUIRE(std::abs(sum - 1) < 1e-14);
    }
    const auto x = draw_matrix<Tokens>(Sequences{4}, generator);
    REQUIRE(loss(draw_layer<T_LM<double>>(generator), unweighted<double>(0, x)) > 0);
  }
  const auto Y = log_softmax(Matrix<n, 1, double>{3.0, -2.0});
  CHECK(Y(0, 0) == 0);  // for one token
  CHECK(Y(1, 0) == 0);
}

TEST_CASE(
    "the loss is convex in (Y, B), the weights of Φ, if ω ≥ 0: without loss weights, halfway between two draws it is "
    "at most the mean of both, in "
    "double, 100 draws of 4 rows; and it is not concave (control)" *
    doctest::description("loss_is_convex_in_Φ, loss_of_a_token_is_convex_in_Φ")) {
  Generator generator{19};
  std::size_t strictly = 0;
  for (int draws = 0; draws < 100; ++draws) {
    const auto X = draw_matrix<Matrix<n, d_model, double>>(Sequences{4}, generator);
    const auto x = draw_matrix<Tokens>(Sequences{4}, generator);
    const auto one = draw_layer<Phi<double>>(generator), other = draw_layer<Phi<double>>(generator);
    auto halfway = one;
    const auto h = parameters(halfway);
    const auto b = parameters(other);
    for (std::size_t k = 0; k < h.size(); ++k) h[k].entries() = (h[k].entries() + b[k].entries()) / 2.0;
    const auto loss_with = [&](const Phi<double>& layer) {
      const auto Y = log_softmax(layer(X));
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += Y(k, std::size_t(x(k, 0)));
      return -sum / 4;
    };
    const double at = loss_with(halfway), mean = (loss_with(one) + loss_with(other)) / 2;
    REQUIRE(at <= mean + 1e-14);
    strictly += at < mean - 1e-6;
  }
  CHECK(strictly > 0);
}

TEST_CASE("control: a negative loss weight can make the loss negative: ω = (2, −1) and y = (log ½, log ⅛)" *
          doctest::description("loss_with_a_negative_weight")) {
  Matrix<n, 2, double> Z{Sequences{2}};
  Z(0, 0) = Z(0, 1) = 0;                 // both tokens have the probability ½
  Z(1, 0) = 0, Z(1, 1) = std::log(7.0);  // the first one has ⅛
  const double value = cross_entropy(log_softmax(Z), Tokens{0, 0}, Matrix<n, 1, double>{2.0, -1.0}, 1.0);
  CHECK(value < 0);
  CHECK(std::abs(value - (2 * std::log(2.0) - std::log(8.0))) < 1e-15);
}

TEST_CASE(
    "however a batch of five sequences is split, the losses of its parts, with Σω of the whole as denominator, "
    "add up to the loss of the whole, and so do their gradients: T_LM, all 52 partitions, exactly over the prime "
    "field") {
  redrawing(13, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const auto whole = batch_of_five(generator);
    const DividedBy<PrimeField> part_of_whole{sum_of(whole.omega)};
    T_LM<PrimeField> gradient;
    const PrimeField loss_of_whole = loss_and_gradient(model, whole, gradient);

    // The loss and the gradient of each subset except the empty one, as a part of the whole.
    std::vector<PrimeField> losses(1u << 5);
    std::vector<T_LM<PrimeField>> gradients(1u << 5);
    for (std::size_t subset = 1; subset < losses.size(); ++subset) {
      std::vector<Tokens> x;
      std::vector<Matrix<n, 1, PrimeField>> omega;
      for (std::size_t s = 0; s < 5; ++s)
        if (subset >> s & 1) x.push_back(sequence(whole.x, s)), omega.push_back(sequence(whole.omega, s));
      const Batch<PrimeField> part{0, concat_sequences(x), concat_sequences(omega)};
      losses[subset] = loss_and_gradient(model, part, gradients[subset], part_of_whole);
      CHECK(same(loss(model, part, part_of_whole), losses[subset]));
    }

    std::size_t partitions = 0;
    const auto split = [&](const auto& self, std::size_t rest, std::vector<std::size_t> parts) -> void {
      if (rest > 0) {  // the part of the first remaining sequence, in all ways
        const std::size_t first = rest & (~rest + 1), others = rest ^ first;
        for (std::size_t with = others;; with = (with - 1) & others) {
          auto more = parts;
          more.push_back(first | with);
          self(self, others ^ with, more);
          if (with == 0) return;
        }
      }
      ++partitions;
      PrimeField sum(0);
      T_LM<PrimeField> sum_of_gradients;
      for (const std::size_t part : parts) {
        sum += losses[part];
        const auto total = parameters(sum_of_gradients);
        const auto g = parameters(gradients[part]);
        for (std::size_t k = 0; k < total.size(); ++k) total[k].entries() += g[k].entries();
      }
      CHECK(same(sum, loss_of_whole));
      must_be_same(sum_of_gradients, gradient);
    };
    split(split, 31, {});
    CHECK(partitions == 52);
    // Control: if one part is averaged by itself, the parts do not add up.
    T_LM<PrimeField> unused;
    CHECK(!same(losses[31],
                loss(model, Batch<PrimeField>{0, sequence(whole.x, 0), sequence(whole.omega, 0)}) + losses[30]));
    return true;
  });
}

TEST_CASE(
    "a batch that is given in parts has the loss and the gradient of the whole, by Mean, by Sum and smoothed: T_LM, "
    "all 16 "
    "ways to cut five sequences, exactly over the prime field") {
  redrawing(15, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const auto whole = batch_of_five(generator);
    const auto compare = [&](const auto& objective) {
      T_LM<PrimeField> of_whole;
      const PrimeField expected = loss_and_gradient(model, whole, of_whole, objective);
      for (unsigned cuts = 0; cuts < 16; ++cuts) {
        MicroBatches<Batch<PrimeField>> parts;
        for (std::size_t first = 0, last = 1; last <= 5; ++last)
          if (last == 5 || (cuts >> (last - 1) & 1)) {
            parts.batches.push_back(sequences_of(whole, first, last));
            first = last;
          }
        INFO("cuts ", cuts);
        T_LM<PrimeField> of_parts;
        CHECK(same(loss_and_gradient(model, parts, of_parts, objective), expected));
        CHECK(same(loss(model, parts, objective), expected));
        must_be_same(of_whole, of_parts);
      }
    };
    compare(Mean{});
    compare(Sum{});
    compare(DividedBy<PrimeField>{PrimeField(100)});
    compare(Smoothed<Mean>{0.1});
    compare(Smoothed<DividedBy<PrimeField>>{0.1, {PrimeField(100)}});
    return true;
  });
}

TEST_CASE(
    "the smoothed loss and its gradient with respect to the outputs are (1−ε) times those of the tokens, and ε/s times "
    "those of every token t of s in their place, added up: exactly over the prime field, for an ε that is any "
    "number") {
  redrawing(16, [](Generator& generator) {
    const Drawn batch{generator};
    const double constant = 0.1;
    const PrimeField epsilon(constant), s(vocab_size), c = sum_of(batch.omega);
    const auto Y = log_softmax(batch.Z);
    const SmoothedOneHot smooth{constant};
    const PrimeField smoothed = cross_entropy(Y, batch.x, batch.omega, c, smooth),
                     of_x = cross_entropy(Y, batch.x, batch.omega, c);

    PrimeField value = (PrimeField(1) - epsilon) * of_x;
    auto Z_bar = cross_entropy_gradient(Y, batch.x, batch.omega, c);
    for (std::size_t e = 0; e < Z_bar.rows() * vocab_size; ++e) Z_bar.data()[e] *= PrimeField(1) - epsilon;
    for (Token t = 0; t < Token(vocab_size); ++t) {
      const Tokens all_t{batch.x.sequences(), t};
      const auto Z_bar_of_t = cross_entropy_gradient(Y, all_t, batch.omega, c);
      value += epsilon / s * cross_entropy(Y, all_t, batch.omega, c);
      for (std::size_t e = 0; e < Z_bar.rows() * vocab_size; ++e) Z_bar.data()[e] += epsilon / s * Z_bar_of_t.data()[e];
    }
    CHECK(same(smoothed, value));
    must_be_equal("z̄ of the smoothed loss", "cross-entropy", cross_entropy_gradient(Y, batch.x, batch.omega, c, smooth),
                  Z_bar, 16);

    // Control: giving all of ε to the other tokens, as some do, is another loss.
    CHECK(!same(smoothed, value - epsilon / s * of_x));
    return true;
  });
}

TEST_CASE(
    "the smoothed loss's gradient with respect to the outputs is the derivative: against dual numbers of double, in "
    "one direction, "
    "within 1e-14") {
  const AlongDirection loss{Generator{17}};
  const double tangent = loss.derivative(SmoothedOneHot{0.3});
  CHECK(std::abs(tangent - loss.by_gradient(SmoothedOneHot{0.3})) < 1e-14);
  CHECK(std::abs(tangent - loss.by_gradient(OneHot{})) > 1e-3);  // control: the gradient of the unsmoothed one is not
}

TEST_CASE(
    "the loss's gradient with respect to the outputs is the derivative: against dual numbers of double, in one "
    "direction, within 1e-14" *
    doctest::description("cross_entropy_has_its_gradient")) {
  const AlongDirection loss{Generator{7}};
  CHECK(std::abs(loss.derivative(OneHot{}) - loss.by_gradient(OneHot{})) < 1e-14);
}

TEST_CASE(
    "N is differentiable at a constant row, where σ = 0: its Jacobian is diag(a)(I − 11ᵀ/d)/ε (for a = 1 the pullback "
    "and difference quotients, in double; a theorem for the derivative along every movement)" *
    doctest::description("Normalization_transposes")) {
  constexpr double epsilon = 1e-6;
  N<double> layer, gradient;
  for (std::size_t j = 0; j < d_model; ++j) layer.a(0, j) = 1;
  const Matrix<n, d_model, double> constant{Sequences{1}, 3.0};
  for (std::size_t k = 0; k < d_model; ++k) {
    Matrix<n, d_model, double> direction{Sequences{1}}, moved{Sequences{1}};
    direction(0, k) = 1;
    const auto X_bar = layer.value_and_pullback(constant).pullback(direction, gradient);
    constexpr double h = 1e-14;  // far below ε
    moved(0, k) = h;
    const auto quotient = layer(moved);
    for (std::size_t j = 0; j < d_model; ++j) {
      const double jacobian = ((j == k) - 1.0 / d_model) / epsilon;
      CHECK(std::abs(X_bar(0, j) - jacobian) <= 1e-9 / epsilon);
      CHECK(std::abs(quotient(0, j) / h - jacobian) <= 1e-6 / epsilon);
    }
  }
}

/// Takes difference quotients of the loss along a random direction v of the weight space, from the right and from the
/// left. Returns how far they are from each other, and how far the right one is from ⟨gradient, v⟩, both relative to
/// the quotients. At σ = 0 the step h must be far below ε, because N is close to linear only within about ε there.
struct Quotients {
  std::uint64_t seed;
  double h, from_left, from_right, along_v = 0, sides, gradient;

  Quotients(const T_LM<double>& model, std::uint64_t seed_of_v, double step) : seed{seed_of_v}, h{step} {
    Generator generator{seed};
    const auto batch = unweighted<double>(0, Tokens{3, 1, 4, 2});
    T_LM<double> pulled_back, v = draw_layer<T_LM<double>>(generator), right = model, left = model;
    loss_and_gradient(model, batch, pulled_back);
    const auto g = parameters(pulled_back), direction = parameters(v), w_right = parameters(right),
               w_left = parameters(left);
    for (std::size_t k = 0; k < g.size(); ++k) {
      along_v += sum_of(g[k].entries() * direction[k].entries());
      w_right[k].entries() += h * direction[k].entries();
      w_left[k].entries() -= h * direction[k].entries();
    }
    const double at = loss(model, batch);
    from_right = (loss(right, batch) - at) / h;
    from_left = (at - loss(left, batch)) / h;
    const double size = std::max(std::abs(from_right), std::abs(from_left));
    sides = std::abs(from_right - from_left) / size;
    gradient = std::abs(from_right - along_v) / size;
  }

  /// Requires that both distances are below the bound.
  void must_agree(const char* model, double bound) const {
    INFO(std::string(model), ": along the direction v drawn from seed ", seed, " with h = ", h,
         " the quotient from the left is ", from_left, ", from the right ", from_right,
         ", and <gradient, v> = ", along_v);
    REQUIRE(sides < bound);
    REQUIRE(gradient < bound);
  }
};

TEST_CASE(
    "the loss is differentiable with respect to the weights where no ReLU is at 0: quotients from both sides agree "
    "with "
    "the gradient, T_LM in double, 5 random points and directions, h = 1e-7, within 1e-4 (theorems for the derivative "
    "along every movement of the weights)" *
    doctest::description("loss_has_its_gradient, T_LM_pullback_is_transpose")) {
  Generator generator{10};
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    Quotients{draw_layer<T_LM<double>>(generator), seed, 1e-7}.must_agree("T_LM", 1e-4);
}

TEST_CASE(
    "the argument of each ReLU of an FF is g + K_j, where g does not depend on K_j: exactly over the prime field, n = "
    "6") {
  using Inside = Composition<Plus<"K", d_ff, PrimeField>, Times<"A", d_model, d_ff, PrimeField>,
                             Normalization<"N_ff", d_model, PrimeField>>;
  redrawing(14, [](Generator& generator) {
    auto inside = draw_layer<Inside>(generator);
    const auto X = draw_matrix<Inside::domain>(Sequences{greatest_n}, generator);
    const auto Y = inside(X);
    for (std::size_t k = 0; k < d_ff; ++k) {
      const PrimeField step = PrimeField::random(generator);
      auto expected = Y;
      for (std::size_t i = 0; i < Y.rows(); ++i) expected(i, k) += step;
      auto moved = inside;
      weight<"K">(moved)(0, k) += step;
      must_be_equal("the argument of ReLU moves with K_j", "N_ff(X)×A + K", moved(X), expected, 14);
    }
    return true;
  });
}

TEST_CASE(
    "the loss is differentiable with respect to the weights where N_ca of the first block has σ = 0 in every row: T_LM "
    "with W_e = 0 and PE = 0, in double, one direction, h = 1e-9, within 1e-2") {
  Generator generator{11};
  auto model = draw_layer<T_LM<double>>(generator);
  weight<"Em.W_e">(model) = {};
  weight<"PE.PE">(model) = {};
  Quotients{model, 1, 1e-9}.must_agree("T_LM with W_e = 0 and PE = 0", 1e-2);  // h/ε = 1e-3 is the next term
}

TEST_CASE("control: where a ReLU is at 0, the quotients from both sides differ") {
  Generator generator{12};
  auto model = draw_layer<T_LM<double>>(generator);
  for (const auto& weight : parameters(model))  // A = 0 and K = 0: ReLU(N_ff(X)×A + K) is at 0 everywhere
    if (weight.path.ends_with(".A") || weight.path.ends_with(".K")) std::fill(weight.begin(), weight.end(), 0.0);
  // In each direction, where the claim above has less than 1e-4. (How far the sides are apart depends on the share of
  // the ReLUs in the slope: 0.007 to 0.43 here.)
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Quotients quotients{model, seed, 1e-7};
    INFO("seed ", seed, ": from the left ", quotients.from_left, ", from the right ", quotients.from_right);
    CHECK(quotients.sides > 1e-3);
  }
}

TEST_CASE("control: ReLU is not differentiable at 0: its difference quotients from both sides differ") {
  CHECK((relu(1e-9) - relu(0.0)) / 1e-9 == 1);
  CHECK((relu(-1e-9) - relu(0.0)) / -1e-9 == 0);
}

TEST_CASE("control: without the leading 0, Y[1] depends on x_1") {
  redrawing(8, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    CHECK(!same(log_softmax(model(Tokens{1})), log_softmax(model(Tokens{2}))));
    return true;
  });
}
