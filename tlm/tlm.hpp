// SPDX-License-Identifier: MIT
#pragma once

/// What models are made of, taught and asked by. What needs a further library, or is not needed to train, is included by who wants
/// it: checking/, claims/, text/, storage/, parallel/, coq/.
#include <tlm/algebra/concat.hpp>
#include <tlm/algebra/pullback.hpp>
#include <tlm/algebra/weight_by_path.hpp>
#include <tlm/decoding/beam_search.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/layers/appended_positions.hpp>
#include <tlm/layers/causal_attention.hpp>
#include <tlm/layers/decoder_block.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/layers/feed_forward.hpp>
#include <tlm/layers/final_layer.hpp>
#include <tlm/layers/heads_with_positions.hpp>
#include <tlm/layers/normalization.hpp>
#include <tlm/layers/positional_encoding.hpp>
#include <tlm/matrix/table.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/models/transformer_lm.hpp>
#include <tlm/models/wolfram_transformer.hpp>
#include <tlm/tasks/reversal.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/loss.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/run.hpp>
#include <tlm/training/schedules.hpp>
#include <tlm/training/train.hpp>
#include <tlm/version.hpp>
