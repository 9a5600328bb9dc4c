// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/base/refuse.hpp>

/// Optimizers: optimizer(layer, gradient) moves the weights of the layer against the gradient. Clipped also scales the
/// gradient. Learning rate, β, ε, λ and limit must be in range when rounded to the layer's type, too: 0.99999999 is 1 as
/// a float. Otherwise an optimizer throws std::invalid_argument and moves nothing.
namespace tlm {

namespace detail {

/// Throws std::invalid_argument unless the value, rounded to a Real, is in its range: `name` must be `limit`, not
/// `value`. The sentence tells if only rounding makes it wrong.
template <class Real, class Range>
void require(const Range& in_range, const char* name, const char* limit, double value) {
  if (in_range(Real(value))) return;
  refuse<std::invalid_argument>(
      {name, " must be ", limit, in_range(value) ? " when rounded to the model's numbers" : "", ", not ", value});
}

/// A number of an optimizer that must be finite and greater than 0.
template <class Real>
void require_positive(const char* name, double value) {
  require<Real>([](auto x) { return std::isfinite(x) && x > 0; }, name, "finite and greater than 0", value);
}

}  // namespace detail

/// Gradient descent: w ← w − η·∂L/∂w. (The article's notebook, train, where η = 0.001.)
struct SGD {
  double learning_rate = 0.001;  ///< η > 0

  template <class Layer>
  void operator()(Layer& layer, const Layer& gradient) const {
    using Real = typename CodomainOf<Layer>::Real;
    detail::require_positive<Real>("the learning rate of SGD", learning_rate);
    const auto eta = Real(learning_rate);
    const auto weights = parameters(layer);
    const auto derivatives = parameters(gradient);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      auto w = weights[k].entries();
      const auto g = derivatives[k].entries();
      w = w - eta * g;
    }
  }
};

/// Adam (Kingma and Ba, 2015) with decoupled weight decay (AdamW: Loshchilov and Hutter, 2019, algorithm 2, but with λ
/// times the learning rate, as in PyTorch). The moments m and v start at 0, and t = 1, 2, … counts the steps:
///
///   m ← β₁m + (1−β₁)g,   v ← β₂v + (1−β₂)g²,   w ← w − η·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε) − ηλw.
///
/// λ acts on matrices only: for a weight of another Role it is 0. With λ = 0, the default, this is Adam.
template <class Layer>
struct Adam {
  double learning_rate = 0.001;  ///< η > 0
  double beta_1 = 0.9;           ///< From [0, 1).
  double beta_2 = 0.999;         ///< From [0, 1).
  double epsilon = 1e-8;         ///< ε > 0
  double weight_decay = 0;       ///< λ ≥ 0, of the weight matrices.

  void operator()(Layer& layer, const Layer& gradient) {
    using Real = typename CodomainOf<Layer>::Real;
    detail::require_positive<Real>("the learning rate of Adam", learning_rate);
    for (const auto& [name, beta] : {std::pair{"beta_1 of Adam", beta_1}, {"beta_2 of Adam", beta_2}})
      detail::require<Real>([](auto x) { return x >= 0 && x < 1; }, name, "at least 0 and less than 1", beta);
    detail::require_positive<Real>("epsilon of Adam", epsilon);
    detail::require<Real>([](auto x) { return std::isfinite(x) && x >= 0; }, "weight_decay of Adam",
                          "finite and at least 0", weight_decay);
    ++t;
    const auto eta = Real(learning_rate), b_1 = Real(beta_1), b_2 = Real(beta_2), eps = Real(epsilon);
    // m/(1−β₁ᵗ) and v/(1−β₂ᵗ) correct that the moments start at 0.
    const auto correction_of_m = Real(1 / (1 - std::pow(double(b_1), double(t))));
    const auto correction_of_v = Real(1 / (1 - std::pow(double(b_2), double(t))));
    const auto weights = parameters(layer), first = parameters(first_moment), second = parameters(second_moment);
    const auto derivatives = parameters(gradient);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto eta_lambda = Real(weights[k].role == Role::matrix ? learning_rate * weight_decay : 0);
      auto w = weights[k].entries(), m = first[k].entries(), v = second[k].entries();
      const auto g = derivatives[k].entries();
      m = b_1 * m + (1 - b_1) * g;
      v = b_2 * v + (1 - b_2) * g * g;
      const auto m_hat = correction_of_m * m, v_hat = correction_of_v * v;
      w = w - eta * m_hat / (xt::sqrt(v_hat) + eps) - eta_lambda * w;
    }
  }

  Layer first_moment{}, second_moment{};
  std::uint64_t t = 0;
};

/// An optimizer with gradient clipping by norm (Pascanu et al., 2013, algorithm 1). Before it moves the weights,
///
///   g ← g·limit/‖g‖   if ‖g‖ > limit,
///
/// where ‖g‖ = √Σg² is the norm of the whole gradient, computed in double. The gradient is scaled in place.
///
///   Clipped adam{Adam<Model>{}, 1.0};
template <class Optimizer>
struct Clipped {
  Optimizer optimizer;
  double limit;     ///< Finite and greater than 0.
  double norm = 0;  ///< ‖g‖ of the last gradient, before it was scaled.

  /// Throws std::runtime_error, and moves nothing, if ‖g‖² is infinite in double, or not a number.
  template <class Layer>
  void operator()(Layer& layer, Layer& gradient) {
    using Real = typename CodomainOf<Layer>::Real;
    detail::require_positive<Real>("the limit of Clipped", limit);
    double squares = 0;
    for (const auto& weight : parameters(gradient))
      for (const double g : weight) squares += g * g;
    norm = std::sqrt(squares);
    if (!std::isfinite(norm))
      refuse<std::runtime_error>({"the squared norm of the gradient is ",
                                  std::isnan(norm) ? "not a number" : "infinite",
                                  ": the weights have grown too large, as they do with too large a learning rate"});
    if (norm > limit) {
      const auto factor = Real(limit / norm);
      for (const auto& weight : parameters(gradient))
        for (Real& g : weight) g *= factor;
    }
    optimizer(layer, gradient);
  }
};
template <class Optimizer>
Clipped(Optimizer, double) -> Clipped<Optimizer>;

}  // namespace tlm
