// SPDX-License-Identifier: MIT
// A layer has a value and a pullback, the transpose of its derivative. Given ∂ℓ/∂Y the pullback returns ∂ℓ/∂X, and adds
// ∂ℓ/∂(weights) to an object of the layer's own type. Here ℓ = Σ Y_ij for Y = FF(X), and one derivative is compared
// with a quotient of differences.

#include <iostream>

#include <tlm/algebra/parameters.hpp>
#include <tlm/layers/feed_forward.hpp>
#include <tlm/matrix/print.hpp>
#include <tlm/training/initialization.hpp>

int main() {
  using FF = tlm::FeedForward<3, 5, double>;  // FF(X) = ReLU(N_ff(X)×A + K)×B + L
  tlm::Generator generator{1};
  FF layer;
  tlm::initialize_glorot(layer, generator);
  const tlm::Matrix<tlm::n, 3, double> X{tlm::Sequences{2}, {0.5, -1, 2, 1, 0, -0.5}};  // a sequence of 2 rows

  const auto [Y, pullback] = layer.value_and_pullback(X);
  std::cout << "X =\n" << X << "\nFF(X) =\n" << Y << '\n';

  FF gradient;  // 0 everywhere: the pullback adds ∂ℓ/∂A to its A
  const tlm::Matrix<tlm::n, 3, double> Y_bar{X.sequences(), 1.0};  // ∂ℓ/∂Y
  const auto X_bar = pullback(Y_bar, gradient);
  std::cout << "∂ℓ/∂X =\n" << X_bar << "\n∂ℓ/∂A =\n" << tlm::weight<"A">(gradient) << '\n';

  const auto l = [&](double change) {
    FF changed = layer;
    tlm::weight<"A">(changed)(1, 1) += change;
    const auto Y_changed = changed(X);
    return xt::sum(Y_changed.xtensor())();
  };
  const double h = 1e-6;
  std::cout << "∂ℓ/∂A_22 by differences: " << (l(h) - l(-h)) / (2 * h) << '\n' << std::flush;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
