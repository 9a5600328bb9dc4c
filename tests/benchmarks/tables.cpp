// SPDX-License-Identifier: MIT
// The cost of those rows of a table that no token of a batch uses. The Wolfram article's model as published, with
// 50,257 tokens of each language, learns from 16 pairs of 20 tokens by Adam. Such rows are set to zero in the gradient,
// and Adam moves them, because its moments go on where a derivative is 0.
//
// Prints medians over all rounds: of a step, and of the work that goes over the two tables alone. There is one thread.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tlm/all.hpp>

#include "table.hpp"
#include "timing.hpp"

using namespace tlm;
using table::rounded;
using timing::median, timing::milliseconds;

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
  const auto drawn = [&] {
    std::vector<std::vector<Token>> sequences(16, std::vector<Token>(20));
    for (auto& sequence : sequences)
      for (Token& token : sequence) token = generator.integer(0, int(config.src_vocab_size) - 1);
    return Tokens{sequences};
  };

  std::vector<double> losses, zeros, moves, zeros_of_tables, moves_of_tables;
  for (int round = 0; round <= 9; ++round) {
    const Translations batch{drawn(), drawn()};
    const double zero = milliseconds([&] { zero_grad(*gradient); });
    const double loss = milliseconds([&] { loss_and_gradient(*model, batch, *gradient); });
    const double move = milliseconds([&] { (*adam)(*model, *gradient); });
    const double zero_of_table = milliseconds([&] { zero_grad(*of_table); });
    const double move_of_table = milliseconds([&] { (*adam_of_table)(*table, *of_table); });
    if (round == 0) continue;  // to warm up
    losses.push_back(loss);
    zeros.push_back(zero);
    moves.push_back(move);
    zeros_of_tables.push_back(2 * zero_of_table);
    moves_of_tables.push_back(2 * move_of_table);
  }
  const double step = median(losses) + median(zeros) + median(moves);
  const double of_tables = median(zeros_of_tables) + median(moves_of_tables);
  table::row({"ms", "the model", "the two tables"});
  table::row({"weights", std::to_string(parameter_count<Model>), std::to_string(2 * parameter_count<Table>)});
  table::row({"loss and gradient", rounded(median(losses), 1), ""});
  table::row({"the gradient is set to zero", rounded(median(zeros), 1), rounded(median(zeros_of_tables), 1)});
  table::row({"Adam", rounded(median(moves), 1), rounded(median(moves_of_tables), 1)});
  table::row({"a step", rounded(step, 1), rounded(of_tables, 1)});
}
