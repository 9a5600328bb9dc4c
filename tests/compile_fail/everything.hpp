// SPDX-License-Identifier: MIT
// What every case begins with: the library, and what several cases use.
#pragma once

#include <vector>

#include <tlm/all.hpp>

/// X + X, declared to be what the case says.
template <class Is>
struct Doubled {
  using declared = Is;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;

  codomain operator()(const domain& X) const { return X + X; }

  auto value_and_pullback(const domain& X) const {
    return tlm::with_pullback(X + X, [](const codomain& Y_bar, Doubled&) { return Y_bar + Y_bar; });
  }

  static constexpr void weights(auto&&, auto&) {}
};

template <class Real = float>
using SmallModel =
    tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8, .d_ff = 8, .n_layers = 1, .n_heads = 2}, Real>;

/// All that is done with a model. None of it adds an error to the one that the model has.
template <class Model, class X_type = typename Model::domain>
void use(const Model& model, Model& gradient, const X_type& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  pullback(Y, gradient);
  tlm::State<Model> state;
  tlm::parameters(gradient);
  Y = model(X) + tlm::advance(model, state, X);
}

/// How many rows a layer that may be wrong returns.
template <class F>
std::size_t applied(const F& f, const tlm::Matrix<tlm::n, 3>& X) {
  return tlm::apply(f, X).rows() + tlm::differentiate(f, X).value.rows();
}

/// A text that a model continues.
template <class Model>
std::vector<tlm::Token> decoded(const Model& model) {
  return tlm::decode(model, {1, 2}, {.start = 0, .end = 0, .max_len = 7});
}

/// All that is done with a model and a batch.
template <class Model, class Batch>
void learn(const Model& model, const Batch& batch, Model& gradient) {
  tlm::loss(model, batch);
  tlm::loss_and_gradient(model, batch, gradient);
}
