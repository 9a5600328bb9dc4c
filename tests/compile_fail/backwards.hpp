#pragma once

#include <tlm/algebra/environment.hpp>

/// A leaf that declares nothing good of itself: it reads a sequence from its end.
struct Backwards {
  using declared = tlm::is::Unrestricted;
  using domain = tlm::Tokens;
  using codomain = tlm::Matrix<tlm::n, 3>;

  codomain operator()(const domain& x) const {
    codomain Y{x.sequences(), 0.0f};
    for (std::size_t i = 0; i < x.rows(); ++i) Y(i, 0) = float(x(x.rows() - 1 - i, 0));
    return Y;
  }
};

/// The same numbers in the order in which they come.
struct Forwards {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Tokens;
  using codomain = tlm::Matrix<tlm::n, 3>;

  codomain operator()(const domain& x) const {
    codomain Y{x.sequences(), 0.0f};
    for (std::size_t i = 0; i < x.rows(); ++i) Y(i, 0) = float(x(i, 0));
    return Y;
  }
};

#ifdef WRONG
using Model = Backwards;
#else
using Model = Forwards;
#endif
