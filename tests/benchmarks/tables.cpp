// SPDX-License-Identifier: MIT
// The cost of those rows of a table that no token of a batch uses. The Wolfram article's model as published, with
// 50,257 tokens of each language, learns from 16 pairs of 20 tokens by Adam. Such rows are set to zero in the gradient,
// and Adam moves them, because its moments go on where a derivative is 0.
//
// Prints medians over all rounds: of a step, and of the work that goes over the two tables alone. There is one thread.

#include <memory>
#include <string>

#include <tlm/all.hpp>

#include "measure.hpp"
#include "models.hpp"

using namespace tlm;
using measure::row, measure::rounded;

namespace {

constexpr wolfram::Config config{.src_vocab_size = 50'257, .tgt_vocab_size = 50'257, .max_len = 128};
using Model = wolfram::Transformer<config>;
using Table = Embedding<config.src_vocab_size, config.d>;

}  // namespace

int main() {
  Generator generator{1};
  const auto model = std::make_unique<Model>(), gradient = std::make_unique<Model>();
  const auto adam = std::make_unique<Adam<Model>>();
  initialize_glorot(*model, generator);
  const auto table = std::make_unique<Table>(), of_table = std::make_unique<Table>();
  const auto adam_of_table = std::make_unique<Adam<Table>>();
  const auto drawn = [&] { return models::random_tokens(16, 20, config.src_vocab_size, generator); };

  const auto [zero, loss, move, zero_of_table, move_of_table] = measure::medians(
      9, [&] { zero_grad(*gradient); },
      [&] {
        loss_and_gradient(*model, Translations{drawn(), drawn()}, *gradient);
      },
      [&] { (*adam)(*model, *gradient); }, [&] { zero_grad(*of_table); }, [&] { (*adam_of_table)(*table, *of_table); });
  row({"ms", "the model", "the two tables"});
  row({"weights", std::to_string(parameter_count<Model>), std::to_string(2 * parameter_count<Table>)});
  row({"loss and gradient", rounded(loss, 1), ""});
  row({"the gradient is set to zero", rounded(zero, 1), rounded(2 * zero_of_table, 1)});
  row({"Adam", rounded(move, 1), rounded(2 * move_of_table, 1)});
  row({"a step", rounded(loss + zero + move, 1), rounded(2 * (zero_of_table + move_of_table), 1)});
}
