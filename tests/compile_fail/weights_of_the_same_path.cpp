// SPDX-License-Identifier: MIT
/// Says: two weights of this layer have the same path: give the parts that they are in a symbol each
/// Names: CausalAttention
#include <string_view>

#include <tlm/layers/causal_attention.hpp>

struct Second : tlm::CausalAttention<8, 2> {
#ifndef WRONG
  static constexpr std::string_view symbol = "CA_2";
#endif
};
using Model = tlm::Composition<Second, tlm::CausalAttention<8, 2>>;

void use(Model& model, const Model& gradient) {
  tlm::for_each_weight([](const tlm::Name&, auto& w, const auto& w_bar) { w += w_bar; }, model, gradient);
  tlm::set_to_zero(model);
}
