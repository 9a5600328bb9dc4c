// SPDX-License-Identifier: MIT
// Exercise 3: predict which arithmetic sees the error.

#include <cstddef>
#include <iostream>
#include <string_view>

#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

/// What each arithmetic says of T(X|i) = T(X)|i.
struct Prediction {
  bool double_sees_it, bits_see_it, field_sees_it, sets_see_it;
};

// ---- change this ----
constexpr Prediction divided_by_n = {true, true, true, true};
constexpr Prediction plus_the_last_row_minus_itself = {true, true, true, true};
// ---- to here ----

/// X_i/n: every row is divided by the number of rows.
template <class Real>
struct DividedByN {
  using declared = tlm::is::Unrestricted;
  using domain = tlm::Matrix<tlm::n, 2, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    const Real rows(X.rows());
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 2; ++j) X(i, j) = X(i, j) / rows;
    return X;
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// X_i + (X_n − X_n): of the last row nothing should be left.
template <class Real>
struct PlusTheLastMinusItself {
  using declared = tlm::is::Unrestricted;
  using domain = tlm::Matrix<tlm::n, 2, Real>;
  using codomain = domain;

  codomain operator()(const domain& X) const {
    codomain Y = X;
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 2; ++j) Y(i, j) = X(i, j) + (X(X.rows() - 1, j) - X(X.rows() - 1, j));
    return Y;
  }
  static constexpr void weights(auto&&, auto&) {}
};

template <template <class> class Layer>
bool marked(std::string_view name, const Prediction& predicted) {
  const auto verdict = tlm::checking::verdict_on<Layer>(name, tlm::checking::Claim::autoregressive);
  bool right = true;
  const auto compare = [&](const char* arithmetic, bool seen, bool predicted_seen) {
    std::cout << name << ", " << arithmetic
              << (seen == predicted_seen ? ": as you predicted\n" : ": not as you predicted\n");
    right &= seen == predicted_seen;
  };
  compare("double", verdict.reals.has_value(), predicted.double_sees_it);
  compare("bits", verdict.bits.has_value(), predicted.bits_see_it);
  compare("prime field", verdict.field.has_value(), predicted.field_sees_it);
  compare("sets of positions", verdict.sets.has_value(), predicted.sets_see_it);
  return right;
}

int main() {
  const bool first = marked<DividedByN>("X_i/n", divided_by_n);
  const bool second = marked<PlusTheLastMinusItself>("X_i + (X_n − X_n)", plus_the_last_row_minus_itself);
  return first && second ? 0 : 1;
}
