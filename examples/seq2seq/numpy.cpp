// SPDX-License-Identifier: MIT
#include "run.hpp"

void run_numpy(const Options& options) {
  using Model = tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = Task::vocab_size,
                                                           .tgt_vocab_size = Task::vocab_size,
                                                           .D = 64,
                                                           .M = 16,
                                                           .h = 4,
                                                           .d_ff = 128,
                                                           .max_len = Task::max_len}>;
  train_and_test<Model>(options, "The NumPy notebook's Transformer with D 64, M 16, h 4, d_ff 128, 2+2 blocks",
                        tlm::Mean{});
}
