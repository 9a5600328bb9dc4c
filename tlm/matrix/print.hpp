// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <ostream>

#include <tlm/matrix/rearranged.hpp>

#if __has_include(<xtensor/io/xio.hpp>)
#include <xtensor/io/xio.hpp>
#else
#include <xtensor/xio.hpp>
#endif

namespace tlm {

/// X as xtensor prints it, {{1., 2.}, {3., 4.}}: each row begins a line, and of more than 1,000 entries the first and the
/// last rows and columns are shown. (xt::print_options::set_threshold and others change that.) Each of several sequences
/// comes under its number, from 1. There is no line feed at the end.
template <auto rows, std::size_t cols, class Real>
requires requires(std::ostream& out, const Real& x) { out << x; }
std::ostream& operator<<(std::ostream& out, const Matrix<rows, cols, Real>& X) {
  if constexpr (requires { X.sequences(); })
    if (const std::size_t count = X.sequences().count(); count > 1) {
      for (std::size_t s = 0; s < count; ++s)
        out << (s == 0 ? "" : "\n") << "sequence " << s + 1 << ":\n" << sequence(X, s);
      return out;
    }
  return out << X.xtensor();
}

}  // namespace tlm
