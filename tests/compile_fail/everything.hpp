// SPDX-License-Identifier: MIT
// What every case begins with, compiled once by each compiler: the library, and what several cases use.
#pragma once

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

  static constexpr void weights(auto&&, auto&...) {}
};

/// All that is done with a model. None of it adds an error to the one that the model has.
template <class Model, class X_type>
void use(const Model& model, Model& gradient, const X_type& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  pullback(Y, gradient);
  tlm::State<Model> state;
  tlm::for_each_weight([](const tlm::Name&, auto&) {}, gradient);
  Y = model(X) + tlm::extend(model, state, X);
}

/// All that is done with a model and a batch.
template <class Model, class Batch>
void learn(const Model& model, const Batch& batch, Model& gradient) {
  tlm::loss(model, batch);
  tlm::loss_and_gradient(model, batch, gradient);
}
