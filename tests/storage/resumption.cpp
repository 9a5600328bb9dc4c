// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <tlm/models/transformer_lm.hpp>
#include <tlm/tasks/reversal.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/train.hpp>

#include "storage.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

using Model =
    TransformerLM<Config{.vocab_size = 4, .d_model = 16, .d_ff = 32, .n_layers = 1, .n_heads = 2, .max_len = 9}>;
const Reversal task{3, 2, 3};

/// All that a run of training is made of.
struct Run {
  Model model;
  Adam<Model> adam{.learning_rate = 0.01};
  Generator generator{1};
  std::vector<double> losses{};

  Run() { initialize_uniform(model, generator); }

  void train_for(std::size_t steps) {
    train(
        model, adam, [&] { return task.batch(4, generator); }, steps,
        [&](const Progress& progress) {
          losses.push_back(progress.loss);
          return Continue::yes;
        });
  }
};

/// What is written of a run, or read: the generator's state is where it is read to.
template <class Numbers>
std::vector<Numbers> numbers_of(Run& run, Generator::State& state) {
  std::vector<Numbers> list;
  storage::add_weights(list, run.model);
  storage::add_adam(list, run.adam);
  storage::add_generator(list, state);
  return list;
}

void save(const std::filesystem::path& path, Run& run) {
  Generator::State state = run.generator.state();
  storage::write(path, numbers_of<storage::Tensor>(run, state), {{"tokenizer", "0 1 2 3"}});
}

/// With `left_out`, the tensors whose names begin so are not read.
void load(const std::filesystem::path& path, Run& run, const std::string& left_out = "none") {
  const storage::SafetensorsFile file{path};
  Generator::State state = run.generator.state();
  auto places = numbers_of<storage::Place>(run, state);
  file.require_nothing_but(places);
  std::erase_if(places, [&](const storage::Place& place) { return place.name.starts_with(left_out); });
  file.read(places);
  run.generator = Generator{state};
}

/// Whether a run goes on as another did: all later losses and all weights at the end, bit for bit.
bool goes_on_alike(Run& run, const Run& other, std::size_t steps) {
  run.train_for(steps);
  bool same = run.losses == std::vector<double>(other.losses.end() - std::ptrdiff_t(steps), other.losses.end());
  for_each_weight(
      [&]<class Weight>(const Name&, const Weight& a, const Weight& b) {
        same = same && std::memcmp(a.data(), b.data(), Weight::size * sizeof(typename Weight::Real)) == 0;
      },
      run.model, other.model);
  return same && run.adam.t == other.adam.t && run.generator.state().drawn == other.generator.state().drawn;
}

}  // namespace

TEST_CASE("a run that is resumed goes on bit for bit like one that was not interrupted") {
  const Directory directory;
  const auto path = directory / "run.safetensors";
  Run run;
  run.train_for(20);
  save(path, run);
  run.train_for(20);

  Run resumed;
  load(path, resumed);
  CHECK(resumed.adam.t == 20);
  CHECK(goes_on_alike(resumed, run, 20));

  // Without any one of its parts it does not.
  for (const char* part : {"DB_1.FF.A", "adam.m.", "adam.v.", "adam.t", "generator."}) {
    Run without;
    load(path, without, part);
    CHECK_FALSE_MESSAGE(goes_on_alike(without, run, 20), part);
  }
}

TEST_CASE("a file of a run has everything by its name") {
  const Directory directory;
  const auto path = directory / "run.safetensors";
  Run run;
  run.train_for(1);
  save(path, run);
  const storage::SafetensorsFile file{path};
  CHECK(file.tensors().size() == 3 * matrix_count<Model> + 3);
  for (const char* name : {"DB_1.FF.A", "adam.m.DB_1.FF.A", "adam.v.DB_1.FF.A"})
    CHECK(file.tensors().at(name).shape == std::vector<std::uint64_t>{16, 32});
  CHECK(file.tensors().at("adam.t").type == "U64");
  CHECK(file.metadata().at("tokenizer") == "0 1 2 3");
  // As a file of weights alone it is refused, and the weights alone are read from it all the same.
  Model model;
  CHECK(said([&] { storage::load_weights(path, model); }).find("nothing is known of \"adam.") != std::string::npos);
  std::vector<storage::Place> weights;
  storage::add_weights(weights, model);
  file.read(weights);
  CHECK(weight<"DB_1.FF.A">(model) == weight<"DB_1.FF.A">(run.model));
}

TEST_CASE("a generator goes on from its state") {
  Generator generator{7};
  for (int i = 0; i < 1000; ++i) generator.integer(1, 3);
  generator.uniform();
  CHECK(generator.state().seed == 7);
  CHECK(generator.state().drawn >= 1001);
  Generator other{generator.state()}, from_the_start{7};
  CHECK(from_the_start.uniform() != Generator{generator.state()}.uniform());
  for (int i = 0; i < 1000; ++i) CHECK(other.uniform() == generator.uniform());
  CHECK(said([] {
          Generator{Generator::State{1, (std::uint64_t(1) << 40) + 1}};
        }) == "a generator that has drawn 1099511627777 numbers is not resumed: at most 2^40 are drawn again");
}
