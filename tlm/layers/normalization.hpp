#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/algebra/weights.hpp>

namespace tlm {

/// N(X)_i = a·(x − x̄)/(σ(x) + ε) + b for each row x = X_i, coordinate by coordinate. (Article, "Normalization layers".)
///
/// x̄ is the mean and σ(x) = √(Σ_j (x_j − x̄)² / d_model) the standard deviation of the row; ε = 10⁻⁶; a, b ∈ ℝ^d_model
/// are weights. Rowwise. The write-up's N, N_ca and N_ff differ by name only.
template <Symbol name, std::size_t d_model, class Real = float>
struct Normalization {
  using declared = is::Rowwise;
  using domain = Matrix<n, d_model, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = name;

  Matrix<std::size_t{1}, d_model, Real> a, b;

  codomain operator()(const domain& X) const { return scaled(standardized(X).Z); }

  /// With u = x − x̄, s = σ + ε and z = u/s, row by row:
  ///
  ///   y = a·z + b         hence  da = dy·z,  db = dy,  dz = a·dy;
  ///   z = u/s             hence  du = dz/s − ⟨dz, u⟩/s² ∂σ/∂u = dz/s − ⟨dz, z⟩/s ∂σ/∂u;
  ///   σ² = ⟨u, u⟩/d       hence  ∂σ/∂u = u/(dσ) = s z/(dσ);
  ///   u = x − x̄           hence  dx = du − mean(du), where mean(z) = 0.
  ///
  /// Together dx = (dz − mean(dz))/s − z ⟨dz, z⟩/(dσ). For a constant row σ = 0 and z = 0, N is differentiable all the
  /// same, and dropping the last term is exact: u ↦ u/(σ(u) + ε) has the derivative 1/ε at u = 0.
  auto value_and_pullback(const domain& X) const {
    Standardized standard = standardized(X);
    codomain Y = scaled(standard.Z);
    return with_pullback(std::move(Y), [this, standard = std::move(standard)](codomain dY, Normalization& gradient) {
      const Real d(d_model);
      for (std::size_t i = 0; i < dY.rows(); ++i) {
        const auto z = standard.Z.row(i);
        auto dy = dY.row(i);
        gradient.a.add_to_row(0, dy * z);
        gradient.b.add_to_row(0, dy);
        auto& dz = dy;
        xt::noalias(dz) = a.row(0) * dy;
        const Real mean = total(dz) / d;
        const Real slope = quotient_or_zero(total(dz * z), d * standard.deviation[i]);
        const Real s = standard.deviation[i] + epsilon();
        xt::noalias(dz) = (dz - mean) / s - z * slope;
      }
      return dY;
    });
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit(Name{"a"}, layer.a...);
    visit(Name{"b"}, layer.b...);
  }

 private:
  static Real epsilon() { return Real(1) / Real(1'000'000); }

  struct Standardized {
    domain Z;                     // z = (x − x̄)/(σ + ε)
    std::vector<Real> deviation;  // σ, row by row
  };

  static Standardized standardized(const domain& X) {
    Standardized standard{domain{X.sequences()}, std::vector<Real>(X.rows())};
    const Real d(d_model);
    for (std::size_t i = 0; i < X.rows(); ++i) {
      auto z = standard.Z.row(i);
      const Real mean = total(X.row(i)) / d;
      xt::noalias(z) = X.row(i) - mean;
      standard.deviation[i] = sqrt(total(z * z) / d);
      const Real s = standard.deviation[i] + epsilon();
      xt::noalias(z) = z / s;
    }
    return standard;
  }

  codomain scaled(const domain& Z) const {
    codomain Y{Z.sequences()};
    for (std::size_t i = 0; i < Z.rows(); ++i) Y.set_row(i, a.row(0) * Z.row(i) + b.row(0));
    return Y;
  }
};

}  // namespace tlm
