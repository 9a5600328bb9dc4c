// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/language.hpp>

// What the library takes of xtensor: storage, and what an expression and an xtensor are called. Who makes a matrix of an
// expression, or an xtensor of a matrix, has included the rest, which every program would have to compile. Version 0.26 moved
// its headers into folders.
#if __has_include(<xtensor/core/xtensor_forward.hpp>)
#include <xtensor/containers/xstorage.hpp>
#include <xtensor/core/xexpression.hpp>
#include <xtensor/core/xtensor_forward.hpp>
#else
#include <xtensor/xexpression.hpp>
#include <xtensor/xstorage.hpp>
#include <xtensor/xtensor_forward.hpp>
#endif
