// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

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

using namespace tlm;
using namespace tlm::tests;

namespace {

template <std::size_t d_ff>
using ModelOf =
    TransformerLM<Config{.vocab_size = 4, .d_model = 16, .d_ff = d_ff, .n_layers = 1, .n_heads = 2, .max_len = 9}>;
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
  storage::save_run(directory / "run", run, configuration);
  return contents_of(directory / "run");
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
    storage::save_run(directory / "run", interrupted, configuration);
    CHECK(refusal_in_a_child([&] {
            Run resumed = new_run(2);
            storage::load_run(directory / "run", resumed, configuration);
            train_for(resumed, 20 - before);
            storage::save_run(directory / "run", resumed, configuration);
          }) == "");
    CHECK(contents_of(directory / "run") == expected);
  }
  // The tokenizer comes back, too.
  Run loaded = new_run(3);
  storage::load_run(directory / "run", loaded, configuration);
  CHECK(loaded.tokenizer == whole.tokenizer);
  CHECK(BytePairs<300>::from_list(loaded.tokenizer).list() == whole.tokenizer);
}

TEST_CASE("without any one of its parts a run does not go on alike") {
  const Directory directory;
  Run whole = new_run(1);
  train_for(whole, 14);
  REQUIRE(whole.patience.since > 0);  // or it need not be read
  storage::save_run(directory / "run", whole, configuration);
  train_for(whole, 6);
  const std::string expected = bytes_of(whole);
  for (const char* part : {"none", "DB_1.FF.A", "adam.m.", "adam.v.", "adam.t", "schedule.t", "best.DB_1.FF.A",
                           "patience.least", "patience.since", "generator.", "step", "place"}) {
    CAPTURE(std::string(part));
    Run without = new_run(2);
    Generator::State state = without.generator.state();
    auto places = numbers_of<storage::Place>(without, state);
    std::erase_if(places, [&](const storage::Place& place) { return place.name.starts_with(part); });
    storage::SafetensorsFile{directory / "run"}.read(places);
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
  storage::save_run(directory / "run", run, configuration);
  const storage::SafetensorsFile file{directory / "run"};
  CHECK(file.tensors().size() == 4 * detail::weight_matrix_count<Model> + 8);
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
  // It is not a file of weights alone.
  Model model;
  CHECK(refusal([&] { storage::load_weights(directory / "run", model); }).find("what it is read into has no \"adam.") !=
        std::string::npos);
  // Optimizers that remember less write less.
  TrainingRun<Model, SGD> plain{.generator = Generator{1}};
  storage::save_run(directory / "plain", plain);
  CHECK(storage::SafetensorsFile{directory / "plain"}.tensors().size() == 2 * detail::weight_matrix_count<Model> + 6);
  TrainingRun<Model, Scheduled<SGD, Cosine>> scheduled{.optimizer = {}, .generator = Generator{1}};
  storage::save_run(directory / "scheduled", scheduled);
  CHECK(storage::SafetensorsFile{directory / "scheduled"}.tensors().size() ==
        2 * detail::weight_matrix_count<Model> + 7);
}

TEST_CASE("of a run one reads the best weights, or the last ones if there was no validation") {
  const Directory directory;
  Run run = new_run(1);
  run.tokenizer = "a tokenizer";
  train_for(run, 2);
  storage::save_run(directory / "run", run, configuration);
  Model model;
  CHECK(storage::load_best(directory / "run", model, configuration) == "a tokenizer");
  CHECK(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.model));
  train_for(run, 2);
  storage::save_run(directory / "run", run, configuration);
  storage::load_best(directory / "run", model, configuration);
  CHECK(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.patience.best));
  CHECK(!(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.model)));

  const Model before = model;
  CHECK(refusal([&] {
          storage::load_best(directory / "run", model, {{"n_heads", "4"}});
        }) == (directory / "run").string() + " is refused: its \"n_heads\" is \"2\", and should be \"4\"");
  ModelOf<48> other;
  CHECK(refusal([&] { storage::load_best(directory / "run", other, configuration); }) ==
        (directory / "run").string() + " is refused: \"best.DB_1.FF.A\" is F32 [16, 32], and should be F32 [16, 48]");
  storage::save_weights(directory / "weights", model, configuration);
  CHECK(refusal([&] { storage::load_best(directory / "weights", model, configuration); }) ==
        (directory / "weights").string() + " is refused: it does not say its \"tokenizer\"");
  CHECK(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(before));
}

TEST_CASE("what is no checkpoint of this run is refused by a sentence, and the run is as it was") {
  const Directory directory;
  const auto path = directory / "run";
  Run run = new_run(1);
  train_for(run, 2);
  storage::save_run(path, run, configuration);
  const std::string whole = contents_of(path);
  train_for(run, 2);
  const std::string before = bytes_of(run);
  const auto refused = [&](const std::string& why, const storage::Metadata& expected = configuration) {
    CHECK(refusal([&] { storage::load_run(path, run, expected); }) == path.string() + " is refused: " + why);
    CHECK(bytes_of(run) == before);
  };
  /// The file with some of its bytes replaced by as many others.
  const auto put_with = [&](const std::string& old, const std::string& by) {
    std::string bytes = whole;
    REQUIRE((bytes.find(old) != bytes.npos && old.size() == by.size()));
    put(path, bytes.replace(bytes.find(old), old.size(), by));
  };

  // Another model.
  refused("its \"n_heads\" is \"2\", and should be \"4\"", {{"n_heads", "4"}});
  auto other = new_run<ModelOf<48>>(1);
  CHECK(refusal([&] { storage::load_run(path, other, configuration); }) ==
        path.string() + " is refused: \"DB_1.FF.A\" is F32 [16, 32], and should be F32 [16, 48]");

  // A newer version, and what is none.
  const std::string ours = "\"tlm_version\":\"" + storage::version_text() + "\"";
  REQUIRE(storage::version_text() == "0.1.0");
  for (const char* newer : {"0.1.1", "0.2.0", "1.0.0"}) {
    put_with(ours, "\"tlm_version\":\"" + std::string(newer) + "\"");
    refused("tlm " + std::string(newer) + " has written it, which is newer than this one, 0.1.0");
  }
  for (const char* none : {"0.1.x", "0.1..", "v.1.0", "1,0.0", "0.100", "00001", ".1.00"}) {
    put_with(ours, "\"tlm_version\":\"" + std::string(none) + "\"");
    refused("its \"tlm_version\" is \"" + std::string(none) + "\", which is none");
  }
  put_with(ours + ",\"tokenizer\"", "\"tlm_version\":\"0.1.0x\",\"tokenize\"");
  refused("its \"tlm_version\" is \"0.1.0x\", which is none");
  put_with("tlm_version", "TLM_version");
  refused("it does not say its \"tlm_version\"");
  put_with(ours, "\"tlm_version\":\"0.0.9\"");  // an older one is read
  CHECK(refusal([&] {
          storage::load_run(path, other, {{"n_heads", "3"}});
        }) == path.string() + " is refused: its \"n_heads\" is \"2\", and should be \"3\"");

  // Parts that are missing, and others.
  const auto put_changed = [&](const auto& change) {
    Run changed = run;
    Generator::State state = run.generator.state();
    auto list = numbers_of<storage::Tensor>(changed, state);
    change(list, state);
    ++changed.place;  // what is read is not what is there
    storage::write(path, list, {{"n_heads", "2"}, {"tokenizer", ""}});
  };
  const std::string more = " (and " + std::to_string(detail::weight_matrix_count<Model> - 1) + " more)";
  for (const auto& [part, why] : {std::pair{"adam.v.", "\"adam.v.Em.W_e\", F32 [4, 16]" + more},
                                  {"schedule.t", "\"schedule.t\", U64 []"},
                                  {"generator.drawn", "\"generator.drawn\", U64 []"},
                                  {"patience.", "\"patience.least\", F64 [] (and 1 more)"},
                                  {"step", "\"step\", U64 []"}}) {
    put_changed([beginning = std::string(part)](auto& list, auto&) {
      REQUIRE(std::erase_if(list, [&](const auto& tensor) { return tensor.name.starts_with(beginning); }) > 0);
    });
    refused("there is no " + why);
  }
  storage::save_weights(path, run.model, configuration);
  refused("it does not say its \"tokenizer\"");
  const float one = 1;
  put_changed([&](auto& list, auto&) { storage::add_number(list, "one more", one); });
  refused("what it is read into has no \"one more\", F32 []");
  put_changed([](auto&, auto& state) { state.drawn = std::uint64_t(1) << 41; });
  CHECK(refusal([&] { storage::load_run(path, run, configuration); }) ==
        "a generator that has drawn 2199023255552 numbers is not resumed: at most 2^40 are drawn again");
  CHECK(bytes_of(run) == before);
  put(path, whole.substr(0, whole.size() / 2));
  CHECK(refusal([&] { storage::load_run(path, run, configuration); }).find("ends at byte") != std::string::npos);
  CHECK(bytes_of(run) == before);
  // Control: the whole file is none of these.
  put(path, whole);
  storage::load_run(path, run, configuration);
  CHECK(bytes_of(run) == whole);
}
