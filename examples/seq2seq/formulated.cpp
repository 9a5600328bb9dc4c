// SPDX-License-Identifier: MIT
#include "run.hpp"

void run_formulated(const Options& options) {
  using Model = tlm::formulated::Transformer<tlm::formulated::Config{.s = Task::vocab_size,
                                                                     .d_model = 64,
                                                                     .d_ff = 128,
                                                                     .d_k = 16,
                                                                     .d_v = 16,
                                                                     .h = 4,
                                                                     .N = 2,
                                                                     .max_len = Task::max_len}>;
  train_and_test<Model>(options, "The Formulated Transformer with d_model 64, d_ff 128, d_k = d_v 16, h 4, N 2",
                        tlm::Sum{});
}
