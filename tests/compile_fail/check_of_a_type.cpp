// SPDX-License-Identifier: MIT
/// Says: what is checked runs over several kinds of numbers: give a template over them
/// Names: MyLayer
#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

template <std::size_t d, class Real = float>
struct MyLayer : tlm::ReLU<d, Real> {};

#ifdef WRONG
const tlm::Report report = tlm::check<MyLayer<6>>();
#else
template <class Real>
using Small = MyLayer<6, Real>;
const tlm::Report report = tlm::check<Small>();
#endif
