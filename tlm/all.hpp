// SPDX-License-Identifier: MIT
#pragma once

/// The whole book: the article, the encoder–decoders of the other sources, and everything else to make and train
/// models. The workshop (checking, derivation, text, storage, parallel) is not included; its headers are opt-in.
#include <tlm/algebra/concat.hpp>
#include <tlm/decoding/beam_search.hpp>
#include <tlm/layers/identity.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/models/wolfram_transformer.hpp>
#include <tlm/tlm.hpp>
#include <tlm/training/micro_batches.hpp>
#include <tlm/training/noisy.hpp>
#include <tlm/training/patience.hpp>
#include <tlm/training/schedules.hpp>
#include <tlm/training/smoothed.hpp>
#include <tlm/training/translations.hpp>
