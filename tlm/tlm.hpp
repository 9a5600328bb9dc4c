// SPDX-License-Identifier: MIT
#pragma once

/// The article: T_LM and what it is made of, its loss, its training and its decoding. all.hpp has the rest of the book.
#include <tlm/base/version.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/matrix/print.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/models/transformer_lm.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/loss.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/reversal.hpp>
#include <tlm/training/train.hpp>
