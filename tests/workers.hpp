// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

#include "../proofs/support.hpp"
#include "support.hpp"

/// What the tests of threads and of ranks share, and the one of Dropout.
namespace tlm::tests {

inline constexpr wolfram::Config with_dropout{
    .src_vocab_size = 6, .tgt_vocab_size = 7, .d = 4, .heads = 2, .blocks = 1, .max_len = 9, .dropout_percent = 30};
/// A small translator with a Dropout.
template <class Real>
using Translator = wolfram::Transformer<with_dropout, Real>;

/// The first `count` of five translations of unequal lengths. One token does not count.
inline Translations translations(std::size_t count = 5) {
  const Translations five{Tokens{{1, 2, 3}, {4}, {5, 0}, {1, 1, 1, 2}, {3}},
                          Tokens{{1, 3, 2}, {0, 2, 6, 3}, {5, 5}, {2, 0}, {4, 3, 2, 1, 0}}, 3};
  return sequences_of(five, 0, count);
}

/// Requires that make(1), …, make(most), which share the first `count` translations, give the loss and the gradient of
/// the whole, exactly over the prime field.
template <class Make>
void must_be_exact(std::size_t count, std::size_t most, const Make& make) {
  using Model = Translator<checking::PrimeField>;
  CAPTURE(count);
  checking::redrawing(1, [&](Generator& generator) {
    const auto model = checking::draw_layer<Model>(generator);
    const Noisy<Translations> noisy{translations(count), {model, 1, 1}};
    Model gradient;
    zero_grad(gradient);
    const auto loss = loss_and_gradient(model, noisy, gradient);
    loss_and_gradient(model, noisy, gradient);  // which is added to what is there
    for (std::size_t threads = 1; threads <= most; ++threads) {
      CAPTURE(threads);
      auto workers = make(threads);
      Model of_parts;
      zero_grad(of_parts);
      for (int time = 0; time < 2; ++time)
        CHECK(same(loss_and_gradient(model, SharedBatch{workers, noisy}, of_parts), loss));
      CHECK(same_bits(of_parts, gradient));
    }
    return true;
  });
}

}  // namespace tlm::tests
