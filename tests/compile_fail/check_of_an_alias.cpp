// SPDX-License-Identifier: MIT
/// Says: what is checked runs over several kinds of numbers: a template over them hands its argument on
/// Names: Small
#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

template <std::size_t d, class Real = float>
struct MyLayer : tlm::ReLU<d, Real> {};

#ifdef WRONG
template <class Real>
using Small = MyLayer<6>;
#else
template <class Real>
using Small = MyLayer<6, Real>;
#endif
const tlm::Report report = tlm::check<Small>();
