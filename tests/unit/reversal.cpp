// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

#include <tlm/training/reversal.hpp>

#include "../support.hpp"

namespace tlm::tests::in_reversal {

TEST_CASE("a question is solved by its reversal between zeros") {
  CHECK(Reversal::question({1, 2, 3}) == std::vector<Token>{1, 2, 3, 0});
  CHECK(Reversal::solved({1, 2, 3}) == std::vector<Token>{1, 2, 3, 0, 3, 2, 1, 0});
}

TEST_CASE("a batch consists of solved sequences of one length, with weight 1 on the answers") {
  const Reversal task{4, 2, 3};
  CHECK(task.max_len() == 9);
  Generator generator{1};
  std::set<std::size_t> lengths;
  std::set<Token> seen;
  for (int i = 0; i < 50; ++i) {
    CAPTURE(i);
    const auto batch = task.batch(3, generator);
    CHECK(batch.x.sequences() == batch.omega.sequences());
    REQUIRE(batch.x.sequences().count() == 3);
    const std::size_t length = batch.x.sequences().length(0);
    const std::size_t k = length / 2 - 1;
    lengths.insert(k);
    CHECK(length + 1 <= task.max_len());
    for (std::size_t s = 0; s < 3; ++s) {
      const std::vector<Token> x = plain(sequence(batch.x, s));
      const std::vector<Token> tokens(x.begin(), x.begin() + std::ptrdiff_t(k));
      CHECK(x == Reversal::solved(tokens));
      seen.insert(tokens.begin(), tokens.end());
      const auto omega = sequence(batch.omega, s);
      for (std::size_t j = 0; j < length; ++j) CHECK(omega(j, 0) == (j > k ? 1 : 0));
    }
  }
  CHECK(lengths == std::set<std::size_t>{2, 3});
  CHECK(seen == std::set<Token>{1, 2, 3, 4});
}

TEST_CASE("the first batch of a seed is the same everywhere") {
  Generator generator{1};
  CHECK(plain(Reversal{10, 2, 2}.batch(2, generator).x) == std::vector<Token>{3, 1, 0, 1, 3, 0, 7, 5, 0, 5, 7, 0});
}

TEST_CASE("the notebook's examples have 100, 36 and 336 sequences") {
  for (const auto& [task, count] :
       {std::pair<Reversal, std::size_t>{{10, 2, 2}, 100}, {{3, 2, 3}, 36}, {{4, 2, 4}, 336}}) {
    const auto all = task.all();
    CHECK(all.size() == count);
    CHECK(std::set(all.begin(), all.end()).size() == count);
  }
}

TEST_CASE("all sequences, shorter ones first") {
  CHECK(Reversal{2, 1, 2}.all() == std::vector<std::vector<Token>>{{1}, {2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}});
}

TEST_CASE("a task needs tokens and lengths") {
  CHECK_THROWS_WITH_AS((Reversal{0, 1, 1}), "the task needs at least 1 token, not 0", std::invalid_argument);
  CHECK_THROWS_WITH_AS((Reversal{1, 0, 1}), "the task needs lengths 1 ≤ min_length ≤ max_length, not 0 and 1",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS((Reversal{1, 3, 2}), "the task needs lengths 1 ≤ min_length ≤ max_length, not 3 and 2",
                       std::invalid_argument);
}

}  // namespace tlm::tests::in_reversal
