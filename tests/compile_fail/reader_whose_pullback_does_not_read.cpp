// SPDX-License-Identifier: MIT
/// Says: that of a layer that `reads` an entry takes a third: reads& entry_gradient
/// Names: MyLayer
#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/layers/affine.hpp>

/// X + a, where a belongs to the environment.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;
  using reads = tlm::TiedWeight<"a", 1, 3>;

  codomain operator()(domain X, const reads& entry) const { return std::move(X += entry.W); }

#ifdef WRONG
  auto value_and_pullback(domain X, const reads& entry) const {
    return tlm::with_pullback(std::move(X += entry.W), [](const codomain& Y_bar, MyLayer&) { return Y_bar; });
  }
#else
  auto value_and_pullback(domain X, const reads& entry) const {
    return tlm::with_pullback(std::move(X += entry.W), [](const codomain& Y_bar, MyLayer&, reads& entry_gradient) {
      tlm::accumulate_rows(entry_gradient.W, Y_bar);
      return Y_bar;
    });
  }
#endif

  static constexpr void weights(auto&&, auto&...) {}
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;
using Entry = tlm::TiedWeight<"a", 1, 3>;

auto use(const Model& model, const Entry& entry, Model& gradient, Entry& entry_gradient,
         const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X, entry);
  tlm::State<Model> state;
  return model(X, entry) + pullback(Y, gradient, entry_gradient) + tlm::extend(model, state, X, entry);
}
