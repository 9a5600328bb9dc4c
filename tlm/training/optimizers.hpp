// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include <tlm/algebra/weights.hpp>

/// Optimizers: optimizer(layer, gradient) moves the weights of the layer against the gradient.
namespace tlm {

/// Gradient descent: w ← w − η·∂L/∂w. (Notebook, train, where η = 0.001.)
struct SGD {
  double learning_rate = 0.001;  ///< η > 0

  template <class Layer>
  void operator()(Layer& layer, const Layer& gradient) const {
    for_each_weight(
        [this]<class Weight>(const Name&, Weight& w, const Weight& g) {
          const auto eta = typename Weight::Real(learning_rate);
          for (std::size_t e = 0; e < Weight::size; ++e) w.data()[e] -= eta * g.data()[e];
        },
        layer, gradient);
  }
};

/// Adam (Kingma and Ba, 2015): with moments m and v, which start at 0, and t = 1, 2, … counting the steps,
///
///   m ← β₁m + (1−β₁)g,   v ← β₂v + (1−β₂)g²,   w ← w − η·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε).
template <class Layer>
struct Adam {
  double learning_rate = 0.001;  ///< η > 0
  double beta_1 = 0.9;           ///< From [0, 1).
  double beta_2 = 0.999;         ///< From [0, 1).
  double epsilon = 1e-8;

  void operator()(Layer& layer, const Layer& gradient) {
    ++t;
    const double eta = learning_rate / (1 - std::pow(beta_1, t));
    const double one_over_bias = 1 / (1 - std::pow(beta_2, t));
    for_each_weight(
        [&]<class Weight>(const Name&, Weight& w, const Weight& g, Weight& m, Weight& v) {
          using Real = typename Weight::Real;
          const auto b_1 = Real(beta_1), b_2 = Real(beta_2), eta_t = Real(eta), scale = Real(one_over_bias),
                     eps = Real(epsilon);
          for (std::size_t e = 0; e < Weight::size; ++e) {
            Real& m_e = m.data()[e];
            Real& v_e = v.data()[e];
            const Real g_e = g.data()[e];
            m_e = b_1 * m_e + (1 - b_1) * g_e;
            v_e = b_2 * v_e + (1 - b_2) * g_e * g_e;
            w.data()[e] -= eta_t * m_e / (std::sqrt(v_e * scale) + eps);
          }
        },
        layer, gradient, first_moment, second_moment);
  }

  Layer first_moment{}, second_moment{};
  double t = 0;
};

}  // namespace tlm
