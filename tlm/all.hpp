// SPDX-License-Identifier: MIT
#pragma once

/// The whole book: the article, the encoder–decoders of the other sources, and what else models are made of and trained by. The
/// workshop (checking, derivation, text, storage, parallel) is included by who wants it.
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
#include <tlm/training/run.hpp>
#include <tlm/training/schedules.hpp>
#include <tlm/training/smoothed.hpp>
#include <tlm/training/translations.hpp>
