// SPDX-License-Identifier: MIT
#include <tlm/checking/check.hpp>

template <std::size_t d, class Real = float>
struct MyLayer : tlm::ReLU<d, Real> {};

template <class Real>
using Small = MyLayer<6, Real>;
const tlm::Report report = tlm::check<Small>();
