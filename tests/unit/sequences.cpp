// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

TEST_CASE("a rowwise layer cannot tell which sequence a row belongs to, PE and attention can") {
  Generator generator{3};
  const auto X = random_rows<Matrix<n, d_model, double>>(unequal(), generator);
  const auto one_by_one = rows(X, 0, X.rows());
  const auto differs = [&]<class F>(const F& layer) { return distance(layer(X), layer(one_by_one)) > 1e-3; };
  CHECK_FALSE(differs(random_layer<FeedForward<d_model, d_ff, double>>(generator)));
  CHECK(differs(random_layer<PositionalEncoding<max_len, d_model, double>>(generator)));
  CHECK(differs(random_layer<CausalAttention<d_model, n_heads, double>>(generator)));
}
