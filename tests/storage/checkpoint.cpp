// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/models/transformer_lm.hpp>
#include <tlm/storage/checkpoint.hpp>
#include <tlm/text/byte_pairs.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/micro_batches.hpp>
#include <tlm/training/reversal.hpp>
#include <tlm/training/schedules.hpp>
#include <tlm/training/smoothed.hpp>

#include "storage.hpp"

namespace tlm::tests::in_checkpoint {

namespace {

template <std::size_t d_ff, std::size_t blocks = 1>
using ModelOf =
    TransformerLM<Config{.vocab_size = 4, .d_model = 16, .d_ff = d_ff, .n_layers = blocks, .n_heads = 2, .max_len = 9}>;
using Model = ModelOf<32>;
const Reversal task{3, 2, 3};

template <class M>
using RunOf = TrainingRun<M, Clipped<Scheduled<Adam<M>, Cosine>>>;
using Run = RunOf<Model>;

const storage::Metadata configuration{{"n_heads", "2"}};

/// A run that has done nothing yet, with weights from a seed.
template <class M = Model>
RunOf<M> new_run(std::uint64_t seed) {
  Cosine eta{.maximum = 0.02, .minimum = 0.001, .warm_up = 5, .steps = 30};
  RunOf<M> run{.optimizer = {{{.weight_decay = 0.01}, eta}, 0.5},
               .patience = {.evaluations = 100},
               .generator = Generator{seed}};
  initialize_uniform(run.model, run.generator);
  return run;
}

/// Steps with smoothed losses of batches in parts. Some batches are drawn, some taken in turn. An evaluation follows
/// every third step.
void train_for(Run& run, std::size_t steps) {
  Generator fixed{99};
  std::vector<Batch<>> in_turn;
  for (int i = 0; i < 5; ++i) in_turn.push_back(task.batch(2, fixed));
  // Other tokens than those learned. The loss on them rises again, so the best weights are not the last ones.
  auto other = task.batch(8, fixed);
  for (std::size_t i = 0; i < other.x.rows(); ++i) other.x(i, 0) = fixed.integer(0, 3);
  const auto held_out = micro_batches(other, 3);
  const auto next_batch = [&] {
    run.place += 1;
    return MicroBatches<Batch<>>{{task.batch(2, run.generator), in_turn[run.place % 5]}};
  };
  train(
      run.model, run.optimizer, next_batch, steps,
      [&](const Progress&) {
        return ++run.step % 3 == 0 ? run.patience(run.model, loss(run.model, held_out)) : Continue::yes;
      },
      Smoothed<Mean>{.epsilon = 0.1});
}

/// What a file of a run would contain.
template <class M>
std::string bytes_of(const RunOf<M>& run) {
  const Directory directory;
  storage::save_run("run", run, configuration);
  return contents_of("run");
}

/// All that is written of a run.
template <class Numbers>
std::vector<Numbers> numbers_of(Run& run, Generator::State& state) {
  std::vector<Numbers> list;
  storage::add_run(list, run, state);
  return list;
}

}  // namespace

TEST_CASE("20 steps are 7 steps, a file, and 13 steps of another process: bit for bit, wherever the break is") {
  const Directory directory;
  Run whole = new_run(1);
  whole.tokenizer = BytePairs<300>::learned("to be or not to be, ça ira").list();
  const Run at_the_beginning = whole;
  train_for(whole, 20);
  const std::string expected = bytes_of(whole);
  CHECK(whole.patience.least < 10);

  for (const std::size_t before : {0u, 1u, 7u, 19u}) {
    CAPTURE(before);
    Run interrupted = at_the_beginning;
    train_for(interrupted, before);
    storage::save_run("run", interrupted, configuration);
    const auto resume = [&] {
      Run resumed = new_run(2);
      storage::load_run("run", resumed, configuration);
      train_for(resumed, 20 - before);
      storage::save_run("run", resumed, configuration);
    };
    if (::fork() == 0) ::_exit(refusal(resume).empty() ? 0 : 1);
    ::wait(nullptr);
    CHECK(contents_of("run") == expected);
  }
  // The tokenizer comes back, too.
  Run loaded = new_run(3);
  storage::load_run("run", loaded, configuration);
  CHECK(loaded.tokenizer == whole.tokenizer);
  CHECK(BytePairs<300>::from_list(loaded.tokenizer).list() == whole.tokenizer);
}

TEST_CASE("without any one of its parts a run does not go on alike") {
  const Directory directory;
  Run whole = new_run(1);
  train_for(whole, 14);
  REQUIRE(whole.patience.since > 0);  // or it need not be read
  storage::save_run("run", whole, configuration);
  train_for(whole, 6);
  const std::string expected = bytes_of(whole);
  for (const char* part : {"none", "DB_1.FF.A", "adam.m.", "adam.v.", "adam.t", "schedule.t", "best.DB_1.FF.A",
                           "patience.least", "patience.since", "generator.", "step", "place"}) {
    CAPTURE(std::string(part));
    Run without = new_run(2);
    Generator::State state = without.generator.state();
    auto places = numbers_of<storage::Place>(without, state);
    std::erase_if(places, [&](const storage::Place& place) { return place.name.starts_with(part); });
    storage::SafetensorsFile{"run"}.read(places);
    without.generator = Generator{state};
    train_for(without, 6);
    CHECK((bytes_of(without) == expected) == (part == std::string("none")));
  }
}

TEST_CASE("a file of a run has everything by its name") {
  const Directory directory;
  Run run = new_run(1);
  train_for(run, 4);
  run.tokenizer = "#version: 0.2\n";
  storage::save_run("run", run, configuration);
  const storage::SafetensorsFile file{"run"};
  CHECK(file.tensors().size() == 4 * detail::weight_list<Model>.size() + 8);
  for (const char* name : {"DB_1.FF.A", "adam.m.DB_1.FF.A", "adam.v.DB_1.FF.A", "best.DB_1.FF.A"})
    CHECK(file.tensors().at(name).shape == std::vector<std::uint64_t>{16, 32});
  for (const char* name :
       {"adam.t", "schedule.t", "patience.since", "generator.seed", "generator.drawn", "step", "place"})
    CHECK_MESSAGE(file.tensors().at(name).type == "U64", name);
  CHECK(file.tensors().at("patience.least").type == "F64");
  CHECK(file.metadata() == storage::Metadata{{"format", "tlm"},
                                             {"n_heads", "2"},
                                             {"tlm_version", storage::version_text()},
                                             {"tokenizer", "#version: 0.2\n"}});
  // Optimizers that remember less write less.
  TrainingRun<Model, SGD> plain{.generator = Generator{1}};
  storage::save_run("plain", plain);
  CHECK(storage::SafetensorsFile{"plain"}.tensors().size() == 2 * detail::weight_list<Model>.size() + 6);
  TrainingRun<Model, Scheduled<SGD, Cosine>> scheduled{.optimizer = {}, .generator = Generator{1}};
  storage::save_run("scheduled", scheduled);
  CHECK(storage::SafetensorsFile{"scheduled"}.tensors().size() == 2 * detail::weight_list<Model>.size() + 7);
}

TEST_CASE("of a run one reads the best weights, or the last ones if there was no validation") {
  const Directory directory;
  Run run = new_run(1);
  run.tokenizer = "a tokenizer";
  train_for(run, 2);
  storage::save_run("run", run, configuration);
  Model model;
  CHECK(storage::load_best("run", model, configuration) == "a tokenizer");
  CHECK(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.model));
  train_for(run, 2);
  storage::save_run("run", run, configuration);
  storage::load_best("run", model, configuration);
  CHECK(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.patience.best));
  CHECK(!(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.model)));
  storage::save_run("run", new_run<ModelOf<32, 2>>(1), configuration);
  CHECK(refusal([&] {
          storage::load_best("run", model, configuration);
        }).starts_with("run is refused: what it is read into has no \"best.DB_2."));
}

TEST_CASE("what is no checkpoint of this run is refused by a sentence, and the run is as it was") {
  const Directory directory;
  Run run = new_run(1);
  train_for(run, 2);
  storage::save_run("run", run, configuration);
  const std::string whole = contents_of("run");
  train_for(run, 2);
  const std::string before = bytes_of(run);
  const auto why_refused = [&](const storage::Metadata& expected = configuration) {
    const std::string sentence = refusal([&] { storage::load_run("run", run, expected); });
    CHECK(bytes_of(run) == before);
    return sentence;
  };
  const auto check_refused_by_both = [&](const std::string& why, const storage::Metadata& expected = configuration) {
    CHECK(why_refused(expected) == "run is refused: " + why);
    CHECK(refusal([&] { storage::load_best("run", run.model, expected); }) == "run is refused: " + why);
    CHECK(bytes_of(run) == before);
  };
  check_refused_by_both("its \"n_heads\" is \"2\", and should be \"4\"", {{"n_heads", "4"}});
  std::string newer = whole;
  put("run", newer.replace(whole.find("0.1.0"), 5, "0.1.1"));
  check_refused_by_both("tlm 0.1.1 has written it, which is newer than this one, 0.1.0");
  put("run", newer.replace(whole.find("0.1.0"), 5, "0.0.9"));
  check_refused_by_both("its \"n_heads\" is \"2\", and should be \"3\"", {{"n_heads", "3"}});  // an older one is read
  storage::save_weights("run", run.model, configuration);
  check_refused_by_both("it does not say its \"tokenizer\"");
  put("run", whole.substr(0, whole.size() / 2));
  CHECK(why_refused() == Containing{"it is cut off: its numbers end at byte"});

  // Parts that are missing, and others.
  const auto put_changed = [&](const auto& change) {
    Run changed = run;
    Generator::State state = run.generator.state();
    auto list = numbers_of<storage::Tensor>(changed, state);
    change(list, state);
    ++changed.place;  // what is read is not what is there
    storage::write("run", list, {{"n_heads", "2"}, {"tokenizer", ""}});
  };
  for (const auto& [part, why] :
       {std::pair{"patience.", "\"patience.least\", F64 []"}, {"generator.drawn", "\"generator.drawn\", U64 []"}}) {
    put_changed([beginning = std::string(part)](auto& list, auto&) {
      std::erase_if(list, [&](const auto& tensor) { return tensor.name.starts_with(beginning); });
    });
    CHECK(why_refused() == "run is refused: there is no " + std::string(why));
  }
  const float one = 1;
  put_changed([&](auto& list, auto&) { storage::add_number(list, "one more", one); });
  CHECK(why_refused() == "run is refused: what it is read into has no \"one more\", F32 []");
  put_changed([](auto&, auto& state) { state.drawn = std::uint64_t(1) << 41; });
  CHECK(why_refused() ==
        "a generator that has drawn 2199023255552 numbers is not resumed: at most 2^40 are drawn again");
  // Control: the whole file is none of these.
  put("run", whole);
  storage::load_run("run", run, configuration);
  CHECK(bytes_of(run) == whole);
}

}  // namespace tlm::tests::in_checkpoint
