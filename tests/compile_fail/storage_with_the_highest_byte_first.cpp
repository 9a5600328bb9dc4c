// SPDX-License-Identifier: MIT
/// Says: a safetensors file has the lowest byte of a number first: storage is for machines that do, too
#include <tlm/storage/header.hpp>

#ifdef WRONG
constexpr auto machine = std::endian::big;
#else
constexpr auto machine = std::endian::little;
#endif

static_assert(tlm::storage::LowestByteFirst<machine>::value);
