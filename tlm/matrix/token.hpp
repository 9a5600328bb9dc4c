// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>

namespace tlm {

/// A token: an integer from {0, 1, …, vocab_size − 1}.
using Token = int;

}  // namespace tlm
