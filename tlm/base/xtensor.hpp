// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>

// The headers of xtensor that the library uses. Version 0.26 moved them into folders. Of what functions for AVX-512 leave
// undefined on purpose GCC 12 warns (its bug 105593).
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
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
#pragma GCC diagnostic pop

namespace tlm::detail {

/// An expression of xtensor: a container, a view of one, or a function of expressions.
template <class E>
concept XtensorExpression = xt::is_xexpression<E>::value;

}  // namespace tlm::detail
