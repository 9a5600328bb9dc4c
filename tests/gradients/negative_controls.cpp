// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <tlm/checking/gradients.hpp>

#include "../layers.hpp"

/// Layers whose pullbacks are wrong on purpose. The same checker that accepts the right ones refuses each of them.
namespace tlm::tests::in_negative_controls {

namespace {

using Product = Times<"W", d_model, 4, double>;
using N = Normalization<"N", d_model, double>;

template <std::size_t cols>
void scale_by(Matrix<n, cols, double>& X, double factor) {
  for (std::size_t e = 0; e < X.rows() * cols; ++e) X.data()[e] *= factor;
}

/// X×W, where the X̄ that its pullback returns was changed.
template <auto change>
struct Changed : Product {
  auto value_and_pullback(const domain& X) const {
    auto [Y, pullback] = Product::value_and_pullback(X);
    return with_pullback(std::move(Y), [pullback = std::move(pullback)](const codomain& Y_bar, Changed& gradient) {
      domain X_bar = pullback(Y_bar, static_cast<Product&>(gradient));
      change(X_bar);
      return X_bar;
    });
  }
};
/// X̄ with the wrong sign.
using SignFlipped = Changed<[](auto& X_bar) { scale_by(X_bar, -1); }>;
/// One entry of X̄ that is off by a hundred-thousandth of itself.
using SlightlyOff = Changed<[](auto& X_bar) { X_bar(1, 2) *= 1 + 1e-5; }>;
/// An X̄ that is NaN.
using NotANumber = Changed<[](auto& X_bar) { scale_by(X_bar, std::numeric_limits<double>::quiet_NaN()); }>;

/// W̄ of 2·Ȳ: a factor too many, in the weights alone.
struct WrongFactor : Product {
  auto value_and_pullback(const domain& X) const {
    auto [Y, pullback] = Product::value_and_pullback(X);
    return with_pullback(std::move(Y), [pullback = std::move(pullback)](codomain Y_bar, WrongFactor& gradient) {
      Product unused;
      domain X_bar = pullback(Y_bar, unused);
      scale_by(Y_bar, 2);
      pullback(Y_bar, static_cast<Product&>(gradient));
      return X_bar;
    });
  }
};

/// Normalization without the mean: x̄ = z̄/s − z⟨z̄, z⟩/(dσ) instead of (z̄ − mean(z̄))/s − ….
struct WithoutMean : N {
  auto value_and_pullback(const domain& X) const {
    auto [Y, pullback] = N::value_and_pullback(X);
    return with_pullback(std::move(Y),
                         [this, X, pullback = std::move(pullback)](const domain& Y_bar, WithoutMean& gradient) {
                           domain X_bar = pullback(Y_bar, static_cast<N&>(gradient));
                           for (std::size_t i = 0; i < X.rows(); ++i) {
                             double mean_x = 0, variance = 0, mean_z_bar = 0;
                             for (std::size_t j = 0; j < d_model; ++j) mean_x += X(i, j) / double(d_model);
                             for (std::size_t j = 0; j < d_model; ++j)
                               variance += std::pow(X(i, j) - mean_x, 2) / double(d_model);
                             for (std::size_t j = 0; j < d_model; ++j)
                               mean_z_bar += a(0, j) * Y_bar(i, j) / double(d_model);
                             for (std::size_t j = 0; j < d_model; ++j)
                               X_bar(i, j) += mean_z_bar / (std::sqrt(variance) + 1e-6);
                           }
                           return X_bar;
                         });
  }
};

/// A gradient that is simply not there.
struct Forgotten : Product {
  auto value_and_pullback(const domain& X) const {
    return with_pullback((*this)(X), [X](const codomain&, Forgotten&) { return domain{X.sequences(), 0.0}; });
  }
};

/// What the checker finds: the entry in which the pullback is wrong, "" if it is accepted.
template <class F>
std::string refused() {
  const auto failure =
      checking::gradient_fails(checking::OperationOf<F, checking::pullback_face>{"a layer"}, 1, {unequal()});
  return failure ? failure->entry : "";
}

}  // namespace

TEST_CASE("the checker accepts what is right and refuses what is wrong") {
  CHECK(refused<Product>() == "");
  CHECK(refused<N>() == "");
  CHECK(refused<CausalAttention<d_model, 3, double>>() == "");  // with more heads than columns of a head
  // In the first entry that is wrong: of the weights before those of X.
  CHECK(refused<SignFlipped>() == "X, row 1, column 1");
  CHECK(refused<WrongFactor>() == "W, row 1, column 1");
  CHECK(refused<SlightlyOff>() == "X, row 2, column 3");
  CHECK(refused<WithoutMean>() == "X, row 1, column 1");
  CHECK(refused<Forgotten>() == "W, row 1, column 1");
}

TEST_CASE("also deep within a composition") {
  CHECK(refused<Composition<ReLU<4, double>, Product, Res<N>>>() == "");
  CHECK(refused<Composition<ReLU<4, double>, Product, Res<WithoutMean>>>() == "X, row 1, column 1");
  CHECK(refused<Composition<ReLU<4, double>, SlightlyOff, Res<N>>>() == "X, row 2, column 3");
}

TEST_CASE("NaN is no gradient") { CHECK(refused<NotANumber>() == "X, row 1, column 1"); }

}  // namespace tlm::tests::in_negative_controls
