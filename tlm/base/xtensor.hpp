// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>

// What the library uses of xtensor, found where it is: version 0.26 moved its headers into folders.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/core/xnoalias.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace tlm::detail {

/// What xtensor computes with: a container, a view of one, a function of such.
template <class E>
concept XtensorExpression = xt::is_xexpression<E>::value;

}  // namespace tlm::detail
