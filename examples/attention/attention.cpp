// The NumPy notebook's walk through attention, section by section: its inputs, what the library's layers make of them
// beside the numbers that the notebook prints, and the errors of the gradients beside those that it reports.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>

#include "notebook.hpp"

using namespace notebook;

namespace {

void section(const std::string& title) { std::cout << "\n" << title << "\n" << std::string(title.size(), '=') << "\n"; }

template <class Matrix>
void print_row(const Matrix& X, std::size_t i) {
  for (std::size_t j = 0; j < Matrix::cols; ++j) std::cout << std::setw(8) << X(i, j);
}

template <auto rows, std::size_t cols>
void print(const std::string& name, const tlm::Matrix<rows, cols, double>& X) {
  std::cout << "\n" << name << "\n";
  for (std::size_t i = 0; i < X.rows(); ++i) print_row(X, i), std::cout << "\n";
}

/// Ours on the left, the notebook's on the right.
template <std::size_t cols>
void print(const std::string& name, const tlm::Matrix<n, cols, double>& ours, const Numbers& numbers) {
  const auto published = numbers.published<cols>(name);
  std::cout << "\n" << name << ": ours | published\n";
  for (std::size_t i = 0; i < ours.rows(); ++i) {
    print_row(ours, i), std::cout << "   |";
    print_row(published, i), std::cout << "\n";
  }
}

/// The greatest relative error of the gradient of the sum of all outputs, over inputs and weights.
template <class Layer, class... Entries>
void print_gradient_error(Layer layer, Inputs X, double published, const Entries&... entries) {
  const auto loss = [&] {
    const auto Y = layer(X, entries...);
    return tlm::sum_of(Y.rows() * Layer::codomain::cols, [&](std::size_t e) { return Y.data()[e]; });
  };
  Layer gradient;
  const auto at_X = layer.value_and_pullback(X, entries...);
  auto entry_gradients = std::tuple<Entries...>{Entries{Inputs{entries.rows.sequences(), 0.0}}...};
  const auto dX = std::apply(
      [&](auto&... gradients) {
        return at_X.pullback(typename Layer::codomain{X.sequences(), 1.0}, gradient, gradients...);
      },
      entry_gradients);

  double worst = 0;
  const auto compare = [&](double& variable, double analytic) {
    constexpr double step = 1e-5;
    const double value = std::exchange(variable, variable + step), above = loss();
    variable = value - step;
    const double numeric = (above - loss()) / (2 * step);
    variable = value;
    worst = std::max(worst, std::abs(numeric - analytic) / std::max(1e-8, std::abs(numeric) + std::abs(analytic)));
  };
  for (std::size_t e = 0; e < X.rows() * D; ++e) compare(X.data()[e], dX.data()[e]);
  tlm::for_each_weight(
      [&]<class Weight>(const tlm::Name&, Weight& w, const Weight& dw) {
        for (std::size_t e = 0; e < Weight::size; ++e) compare(w.data()[e], dw.data()[e]);
      },
      layer, gradient);
  std::cout << "\ngreatest relative error of the gradient: " << std::scientific << std::setprecision(1) << worst
            << "   (the notebook reports " << published << ")\n"
            << std::fixed << std::setprecision(3);
}

}  // namespace

int main() {
  const Numbers numbers{GOLDENS};
  const auto x = numbers.input<Inputs>("x");
  std::cout << std::fixed << std::setprecision(3);

  section("Attention and self-attention");
  const auto self = numbers.layer<SelfAttention>();
  print("x", x, numbers);
  print("keys", self.a.k(x), numbers);
  print("queries", self.a.q(x), numbers);
  print("values", self.b(x), numbers);
  const auto scores = self.a.value_and_pullback(x).value;
  tlm::Matrix<n, 2, double> alpha{scores(0, 0)(0, 0), scores(0, 0)(0, 1), scores(0, 0)(1, 0), scores(0, 0)(1, 1)};
  print("attention scores", alpha, numbers);
  print("self-attention", self(x), numbers);
  print_gradient_error(self, x, 3.9e-9);

  section("Masked decoding");
  const auto masked = numbers.layer<MaskedSelfAttention>();
  print("masked self-attention", masked(x), numbers);
  print_gradient_error(masked, x, 1.1e-8);

  section("Multi-headed self-attention");
  const auto multi_head = numbers.layer<MultiHead>();
  print("heads out", multi_head.f(x));
  print("multi-head", multi_head(x), numbers);
  print_gradient_error(multi_head, x, 5.0e-9);
  const auto masked_multi_head = numbers.layer<MaskedMultiHead>();
  print("masked multi-head", masked_multi_head(x), numbers);
  print_gradient_error(masked_multi_head, x, 8.9e-9);

  section("Cross-attention");
  const Memory y{numbers.input<Inputs>("y")};
  const auto x_dec = numbers.input<Inputs>("x_dec");
  const auto cross = numbers.layer<CrossAttention>();
  print("y, the output of the encoder", y.rows);
  print("x, the input of the decoder", x_dec);
  print("cross-attention", cross(x_dec, y), numbers);
  print_gradient_error(cross, x_dec, 1.4e-9, y);
  const auto multi_head_cross = numbers.layer<MultiHeadCross>();
  print("multi-head cross-attention", multi_head_cross(x_dec, y), numbers);
  print_gradient_error(multi_head_cross, x_dec, 3.1e-8, y);
}
