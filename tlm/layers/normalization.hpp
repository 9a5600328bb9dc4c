// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/names.hpp>
#include <tlm/numbers/functions.hpp>
#include <tlm/numbers/rows.hpp>

namespace tlm {

namespace detail {

/// (x − mean(x))/(σ + ε) with ε = 10⁻⁶. (Article, "Normalization layers".)
struct DeviationPlusEpsilon {
  /// The root r in the divisor, σ, from the variance of x ÷ scale.
  static auto root(const auto& variance, const auto& scale) { return scale * sqrt(variance); }
  /// The divisor: σ + ε.
  template <class Real>
  static Real of(Real root) {
    return root + Real(1) / Real(1'000'000);
  }
};

/// (x − μ)/√(σ² + ε) with ε = 1/one_over_epsilon. (The Formulated Transformer, "Layer normalization".)
template <std::size_t one_over_epsilon>
struct RootOfVariancePlusEpsilon {
  /// The root r in the divisor, √(σ² + ε) = scale·√(v + ε/scale²), from the variance v of x ÷ scale.
  template <class Real>
  static Real root(Real variance, const auto& scale) {
    const Real epsilon = Real(1) / Real(one_over_epsilon);
    if constexpr (std::is_floating_point_v<Real>)
      if (variance == Real(0)) return sqrt(epsilon);  // for a large scale ε/scale² is rounded to 0
    return scale * sqrt(variance + epsilon / scale / scale);
  }
  /// The divisor: the root itself.
  static auto of(const auto& root) { return root; }
};

/// The largest power of two that is at most max(1, max_j |x_j|); it is 1 if an entry is infinite, and in an arithmetic that
/// does not overflow.
template <class Adaptor>
auto scale_of([[maybe_unused]] const Vector<Adaptor>& x) {
  using Real = typename Adaptor::value_type;
  if constexpr (std::is_floating_point_v<Real>) {
    const Real greatest = combined(xt::abs(x), Real(1), greater_one);
    if (std::isfinite(greatest)) return std::ldexp(Real(1), std::ilogb(greatest));
  }
  return Real(1);
}

/// X_i ↦ a·(x − mean(x))/s(x) + b for each row x = X_i, coordinate by coordinate: standardized, then scaled and shifted.
///
/// `Divisor` makes the root r from the variance σ² = Σ_j (x_j − mean(x))²/d, and s from r. The weights a and b have as
/// many coordinates as x. Rowwise. (It has no name: N, N_ca and N_ff differ by name only.)
template <class Divisor, std::size_t d_model, class Real>
struct StandardizedRows {
  using declared = is::Rowwise;
  using domain = Matrix<n, d_model, Real>;
  using codomain = domain;

  Row<d_model, Real> a, b;

  codomain operator()(const domain& X) const { return scaled_and_shifted(standardized(X).Z); }

  /// A bar is a cotangent: z̄ = ∂L/∂z. With u = x − mean(x), the root r = √(⟨u, u⟩/d + …), the divisor s = r + … and
  /// z = u/s, row by row, where ε stands in one of the places of the dots:
  ///
  ///   y = a·z + b         hence  ā += ȳ·z,  b̄ += ȳ,  z̄ = a·ȳ;
  ///   z = u/s             hence  ū = z̄/s − (⟨z̄, u⟩/s²)·∂s/∂u = z̄/s − (⟨z̄, z⟩/s)·∂s/∂u;
  ///   r² = ⟨u, u⟩/d + …   hence  ∂s/∂u = ∂r/∂u = u/(d·r) = s z/(d·r);
  ///   u = x − mean(x)     hence  x̄ = ū − mean(ū), where mean(z) = 0.
  ///
  /// Together x̄ = (z̄ − mean(z̄))/s − z·slope with slope = ⟨z̄, z⟩/(d·r) = mean(z̄·z)/r. For a constant row z = 0, and r = 0
  /// if there is no ε under the root. Then leaving out the last term is exact: u/(σ(u) + ε) has the derivative I/ε at 0.
  auto value_and_pullback(const domain& X) const& {
    Standardized standard = standardized(X);
    codomain Y = scaled_and_shifted(standard.Z);
    return with_pullback(std::move(Y),
                         [this, standard = std::move(standard)](codomain Y_bar, StandardizedRows& gradient) {
                           for (std::size_t i = 0; i < Y_bar.rows(); ++i) {
                             const Real r = standard.root[i], s = Divisor::of(r);
                             const auto z = standard.Z.row(i);
                             auto y_bar = Y_bar.row(i), x_bar = y_bar;  // x̄ takes the place of ȳ
                             gradient.a.row(0) += y_bar * z;
                             gradient.b.row(0) += y_bar;
                             const auto z_bar = a.row(0) * y_bar;
                             const Real slope = quotient_or_zero(mean_of(z_bar * z), r);
                             x_bar = (z_bar - mean_of(z_bar)) / s - z * slope;
                           }
                           return Y_bar;  // now X̄
                         });
  }
  auto value_and_pullback(const domain&) const&& { return refuse_temporary<StandardizedRows>(); }

 private:
  struct Standardized {
    domain Z;                // z = (x − mean(x))/s
    std::vector<Real> root;  // r, row by row
  };

  static Standardized standardized(const domain& X) {
    Standardized standard{domain{X.sequences()}, std::vector<Real>(X.rows())};
    for (std::size_t i = 0; i < X.rows(); ++i) {
      Real& r = standard.root[i];
      const auto x = X.row(i);
      auto z = standard.Z.row(i);
      // z = u/s = (u/scale)/(s/scale) with u = x − mean(x), where scale is a power of two: squares of large numbers would
      // overflow. It changes no digit of z, except where tiny entries stand beside huge ones. The mean is rounded. So what
      // is missing of it is subtracted, too: of a constant, finite row of at most 4096 entries z is 0.
      const Real scale = scale_of(x), unit = Real(1) / scale;
      const Real rounded_mean = mean_of(x * unit);
      const auto centred = x * unit - rounded_mean;
      const auto u_over_scale = centred - mean_of(centred);
      r = Divisor::root(mean_of(u_over_scale * u_over_scale), scale);
      const Real s = Divisor::of(r);
      z = u_over_scale / (s / scale);
    }
    return standard;
  }

  codomain scaled_and_shifted(const domain& Z) const {
    codomain Y{Z.sequences()};
    for (std::size_t i = 0; i < Z.rows(); ++i) Y.row(i) = a.row(0) * Z.row(i) + b.row(0);
    return Y;
  }
};

/// StandardizedRows with its symbol in the book, and the letters of a and b there.
template <Symbol name, Symbol factor, Symbol summand, class Divisor, std::size_t d_model, class Real>
struct NamedStandardizedRows : StandardizedRows<Divisor, d_model, Real> {
  static constexpr std::string_view symbol = name;

  static constexpr void weights(auto&& visit, auto& layer) {
    visit(Name{factor, Role::factor}, layer.a);
    visit(Name{summand, Role::summand}, layer.b);
  }
};

}  // namespace detail

/// N(X)_i = a·(x − mean(x))/(σ(x) + ε) + b for each row x = X_i, with ε = 10⁻⁶. (Article, "Normalization layers".)
/// The book's N, N_ca and N_ff differ by name only.
template <Symbol name, std::size_t d_model, class Real = float>
struct Normalization : detail::NamedStandardizedRows<name, "a", "b", detail::DeviationPlusEpsilon, d_model, Real> {};

/// LayerNorm(X)_i = γ·(x − μ)/√(σ² + ε) + β for each row x = X_i. (The Formulated Transformer, "Layer normalization";
/// the NumPy notebook, whose imported class has ε = 10⁻⁵; the Wolfram article, with 10⁻⁴, taken to be under the root.)
template <Symbol name, std::size_t d_model, class Real = float, std::size_t one_over_epsilon = 100'000>
struct LayerNorm : detail::NamedStandardizedRows<name, "γ", "β", detail::RootOfVariancePlusEpsilon<one_over_epsilon>,
                                                 d_model, Real> {
  /// 1/ε, for the proof kernel's definition.
  static constexpr std::size_t formal_constants[] = {one_over_epsilon};
};

}  // namespace tlm
