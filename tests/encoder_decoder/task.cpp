// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <examples/seq2seq/task.hpp>

#include "../support.hpp"

namespace tlm::tests::in_task {

TEST_CASE("the task of seq2seq: batches of many lengths, with the right answers, and nothing that is held out") {
  for (const auto kind : {Task::Kind::copy, Task::Kind::reverse}) {
    Generator generator{1};
    Task task{kind, generator};
    CHECK(task.held_out().size() == 861);
    std::set<std::size_t> lengths, held_out_lengths;
    for (const auto& source : task.held_out()) held_out_lengths.insert(source.size());
    CHECK(held_out_lengths == std::set<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8});
    for (int draws = 0; draws < 300; ++draws) {
      const Translations batch = task.batch(32);
      REQUIRE(batch.x.sequences().count() == 32);
      for (std::size_t s = 0; s < 32; ++s) {
        auto source = tests::plain(sequence(batch.x, s));
        lengths.insert(source.size());
        CHECK(!task.held_out().contains(source));
        if (kind == Task::Kind::reverse) std::reverse(source.begin(), source.end());
        source.insert(source.begin(), Task::start);
        source.push_back(Task::end);
        CHECK(tests::plain(sequence(batch.y, s)) == source);
      }
      CHECK(batch.x.sequences().length(0) + 2 == batch.y.sequences().length(0));
    }
    CHECK(lengths == held_out_lengths);
  }
}

TEST_CASE("the same seed gives the same batches") {
  Generator one{5}, other{5};
  CHECK(Task{Task::Kind::copy, one}.batch(4).x == Task{Task::Kind::copy, other}.batch(4).x);
}

}  // namespace tlm::tests::in_task
