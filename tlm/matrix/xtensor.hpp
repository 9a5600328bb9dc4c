// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/language.hpp>

// What the library takes of xtensor, found where it is: version 0.26 moved its headers into folders.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif
