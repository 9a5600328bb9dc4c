// SPDX-License-Identifier: MIT
// The NumPy notebook's walk through attention, section by section. It shows the inputs, and what the library's layers
// make of them beside the numbers that the notebook prints. Then it shows the errors of the gradients beside those that
// the notebook reports.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <examples/shared/command_line.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/translations.hpp>

#include "notebook.hpp"

using namespace notebook;
using tlm::part, tlm::weight;

namespace {

void section(const std::string& title) { std::cout << "\n" << title << "\n" << std::string(title.size(), '=') << "\n"; }

template <class Matrix>
void print_row(const Matrix& X, std::size_t i) {
  for (std::size_t j = 0; j < Matrix::cols; ++j) std::cout << std::setw(8) << X(i, j);
}

template <std::size_t cols>
void print(const std::string& name, const tlm::Matrix<n, cols, double>& X) {
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

/// The maximum of |a − b|/(|a| + |b|) for the derivatives a and b of a loss with respect to some variables: a by
/// differences, b by a pullback.
template <class Loss>
double worst_error(const Loss& loss, double* variables, const double* pulled_back, std::size_t count, double step) {
  double worst = 0;
  for (std::size_t e = 0; e < count; ++e) {
    const double value = std::exchange(variables[e], variables[e] + step), above = loss();
    variables[e] = value - step;
    const double numeric = (above - loss()) / (2 * step);
    variables[e] = value;
    const double error =
        std::abs(numeric - pulled_back[e]) / std::max(1e-8, std::abs(numeric) + std::abs(pulled_back[e]));
    if (!(error <= worst)) worst = error;  // NaN, too
  }
  return worst;
}

/// For the gradient with respect to one of the variables of a layer: ours | published.
void print_error(const std::string& by, double ours, std::optional<double> published) {
  std::cout << std::setw(20) << by << std::setw(11) << ours << "   |" << std::setw(11);
  if (published)
    std::cout << *published << "\n";
  else
    std::cout << "-\n";
}

/// The relative errors of the gradient of the sum of all outputs, with respect to input, memory and weights: ours |
/// published.
template <class Layer, class... Entries>
void print_gradient_errors(const std::string& name, const Numbers& numbers, Layer layer, Inputs X, Entries... entries) {
  const auto loss = [&] { return tlm::sum_of(layer(X, entries...).xtensor()); };
  Layer gradient;
  const auto at_X = layer.value_and_pullback(X, entries...);
  auto entry_gradients = std::tuple<Entries...>{Entries{Inputs{entries.rows.sequences()}}...};
  const auto X_bar = std::apply(
      [&](auto&... gradients) {
        return at_X.pullback(typename Layer::codomain{X.sequences(), 1.0}, gradient, gradients...);
      },
      entry_gradients);

  std::cout << "\nrelative errors of the gradient: ours | published\n" << std::scientific << std::setprecision(1);
  const auto print_errors = [&](const std::string& by, double* variables, const double* pulled_back,
                                std::size_t count) {
    print_error(by, worst_error(loss, variables, pulled_back, count, 1e-5), numbers.gradient_error(name, by));
  };
  print_errors("x", X.data(), X_bar.data(), X.rows() * D);
  if constexpr (sizeof...(Entries) > 0) {
    auto& memory = std::get<0>(std::tie(entries...)).rows;
    print_errors("y", memory.data(), std::get<0>(entry_gradients).rows.data(), memory.rows() * D);
  }
  const auto w = tlm::parameters(layer), w_bar = tlm::parameters(gradient);
  for (std::size_t k = 0; k < w.size(); ++k)
    print_errors(std::string(w[k].path), w[k].numbers, w_bar[k].numbers, w[k].size());
  std::cout << std::fixed << std::setprecision(3);
}

/// The same for the whole encoder–decoder: for its loss on the notebook's toy, with respect to each of its weights.
/// These are drawn, because the notebook does not print its own. The notebook's text breaks off in the middle of its
/// list, and has one K and one V for the cross-attention of all decoder blocks. (Where a derivative is small, the error
/// of a difference of losses is large beside it. The tests take differences of a higher order.)
void print_model_errors(const Numbers& numbers) {
  using Model =
      tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 10, .tgt_vocab_size = 10, .max_len = 8}, double>;
  const tlm::Translations toy{tlm::Tokens{{2, 0, 0, 6}, {2, 4, 9, 3}},
                              tlm::Tokens{{4, 2, 6, 5, 9, 4, 2, 0}, {3, 5, 3, 6, 5, 1, 2, 8}}, 0};
  Model model, gradient;
  tlm::Generator generator{13};
  tlm::initialize_glorot(model, generator);
  tlm::loss_and_gradient(model, toy, gradient);
  std::cout << "\nrelative errors of the gradient of the loss: ours | published\n"
            << std::scientific << std::setprecision(1);
  double of_others = 0;
  const auto w = tlm::parameters(model), w_bar = tlm::parameters(gradient);
  for (std::size_t k = 0; k < w.size(); ++k) {
    const double worst =
        worst_error([&] { return tlm::loss(model, toy); }, w[k].numbers, w_bar[k].numbers, w[k].size(), 1e-6);
    const std::string path{w[k].path};
    if (const auto published = numbers.gradient_error("Transformer", path))
      print_error(path, worst, published);
    else
      of_others = std::max(of_others, worst);
  }
  print_error("any other weight", of_others, {});
  std::cout << std::fixed << std::setprecision(3);
}

/// The first sequence of α = softmax(x Q Kᵀ zᵀ / √M) for one head, with 0 where the mask hides it.
template <std::size_t queries, std::size_t keys, class Weights>
tlm::Matrix<n, keys, double> attention_scores(const Weights& A) {
  tlm::Matrix<n, keys, double> alpha{tlm::Sequences{queries}};
  for (std::size_t i = 0; i < queries; ++i)
    for (std::size_t j = 0; j < A(0, 0).visible(i); ++j) alpha(i, j) = A(0, 0)(i, j);
  return alpha;
}

void walk() {
  const Numbers numbers{GOLDENS};
  const auto x = numbers.input<Inputs>("x");
  const auto batch = tlm::concat_sequences<D, double>({x, x, x});
  std::cout << std::fixed << std::setprecision(3);

  section("Attention and self-attention");
  const auto self = numbers.layer<SelfAttention>();
  print("x", x, numbers);
  print("K", rows_of(weight<"K">(self)), numbers);
  print("Q", rows_of(weight<"Q">(self)), numbers);
  print("V", rows_of(weight<"V">(self)), numbers);
  print("keys", part<Linear<"K">>(self)(x), numbers);
  print("queries", part<Linear<"Q">>(self)(x), numbers);
  print("values", part<Linear<"V">>(self)(x), numbers);
  print("attention scores", attention_scores<2, 2>(self.value_and_weights(x).weights), numbers);
  print("self-attention", self(x), numbers);
  print_gradient_errors("self-attention", numbers, self, x);

  section("A batch");
  std::cout << "\nThree copies of x, one under the other: each gives what x alone gives.\n";
  for (std::size_t s = 0; s < 3; ++s) print("self-attention", tlm::sequence(self(batch), s), numbers);
  print_gradient_errors("batch", numbers, self, batch);

  section("Masked decoding");
  std::cout << "\nThe first output attends only to the first value, the second to both.\n";
  const auto masked = numbers.layer<MaskedSelfAttention>();
  print("attention scores", attention_scores<2, 2>(masked.value_and_weights(x).weights));
  print("values", part<Linear<"V">>(masked)(x), numbers);
  print("masked self-attention", masked(x), numbers);
  print_gradient_errors("masked self-attention", numbers, masked, x);

  section("Multi-headed self-attention");
  std::cout << "\nThree heads with the same K, Q and V, so that each gives what one head gives.\n";
  const auto multi_head = numbers.layer<MultiHead>();
  print("W", rows_of(weight<"W">(multi_head)), numbers);
  print("heads out", part<Heads>(multi_head)(x), numbers);
  print("multi-head", multi_head(x), numbers);
  print_gradient_errors("multi-head", numbers, multi_head, x);
  const auto masked_multi_head = numbers.layer<MaskedMultiHead>();
  print("masked heads out", part<MaskedHeads>(masked_multi_head)(x), numbers);
  print("masked multi-head", masked_multi_head(x), numbers);
  print_gradient_errors("masked multi-head", numbers, masked_multi_head, x);

  section("Cross-attention");
  const Memory y{numbers.input<Inputs>("y")};
  const auto x_dec = numbers.input<Inputs>("x_dec");
  const auto cross = numbers.layer<CrossAttention>();
  print("y, the output of the encoder", y.rows);
  print("x, the input of the decoder", x_dec);
  print("keys", part<Linear<"K">>(cross)(y.rows));
  print("queries", part<Linear<"Q">>(cross)(x_dec));
  print("values", part<Linear<"V">>(cross)(y.rows));
  print("attention scores", attention_scores<4, 2>(cross.value_and_weights(x_dec, y).weights));
  print("cross-attention", cross(x_dec, y), numbers);
  print_gradient_errors("cross-attention", numbers, cross, x_dec, y);
  const auto multi_head_cross = numbers.layer<MultiHeadCross>();
  print("cross heads out", part<CrossHeads>(multi_head_cross)(x_dec, y), numbers);
  print("multi-head cross-attention", multi_head_cross(x_dec, y), numbers);
  print_gradient_errors("multi-head cross-attention", numbers, multi_head_cross, x_dec, y);

  section("The Transformer encoder-decoder");
  print_model_errors(numbers);
}

}  // namespace

int main(int argc, char** argv) {
  return program::CommandLine{"attention",
                              "The NumPy notebook's walk through attention, with its published numbers beside ours."}
      .run(argc, argv, walk);
}
