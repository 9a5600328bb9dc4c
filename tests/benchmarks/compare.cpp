// SPDX-License-Identifier: MIT
// What compare.py measures beside PyTorch. `contestant MODEL DIRECTORY` makes a model and a batch, and keeps them in the
// directory with its results, in float and in double. Then it answers each line `TIMES THREADS ACTION` of its input
// with a line: the milliseconds of one action. The action "products" is the matrix products of a step alone, by one
// call of the same BLAS each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>
#include <tlm/storage/safetensors.hpp>

#include "measure.hpp"
#include "models.hpp"
#include "products.hpp"

using namespace tlm;

namespace {

constexpr Token start = 0, none = -1;

/// Keeps numbers of this shape in a file, under the name "X".
template <class Number>
void save(const std::filesystem::path& path, const Number* numbers, std::size_t rows, std::size_t cols) {
  std::vector<storage::Tensor> tensors;
  storage::add_numbers(tensors, "X", std::span{numbers, rows * cols}, {rows, cols});
  storage::write(path, std::move(tensors));
}

/// Keeps in a directory: the weights of a model, the scores of a batch, the gradient of its loss, and the scores of a
/// text that it generates, always with the maximum score.
template <class Model>
void keep(const std::filesystem::path& directory, const Model& model, const Tokens& x, std::size_t length) {
  std::filesystem::create_directory(directory);
  storage::save_weights(directory / "weights.safetensors", model);
  const auto scores = model(detail::after_start(start, x));
  save(directory / "scores.safetensors", scores.data(), scores.rows(), scores.cols);
  const Batch<RealOf<Model>> batch = unweighted<RealOf<Model>>(start, x);
  storage::save_weights(directory / "gradient.safetensors", value_and_gradient(model, batch).second);
  Generation<Model> generation{model, {{}}, {start, none, length + 1}};
  typename Model::codomain said{Sequences{length}};
  for (std::size_t i = 0; i < length; ++i) {
    const auto next = generation.next_scores();
    said.row(i) = next.row(0);
    generation.append(0, Greedy{}(said.row(i).data(), said.cols));
  }
  save(directory / "said.safetensors", said.data(), said.rows(), said.cols);
}

/// Measures a model, a batch that it learns from, and texts that it generates.
template <Config c, std::size_t count, std::size_t length>
void compete(const std::filesystem::path& directory) {
  using Model = TransformerLM<c>;
  Generator generator{1}, another{2};
  const auto model = models::random_model<Model>(generator), gradient = std::make_unique<Model>();
  const Batch<> batch = unweighted(start, models::random_tokens(count, length, c.vocab_size, generator));
  const Tokens read = detail::after_start(start, batch.x);
  const std::vector<std::int64_t> tokens(batch.x.data(), batch.x.data() + batch.x.rows());
  save(directory / "tokens.safetensors", tokens.data(), count, length);
  keep(directory / "float", *model, batch.x, length);
  keep(directory / "double", *models::random_model<TransformerLM<c, double>>(another), batch.x, length);

  std::size_t times = 0, thread_count = 0;
  std::map<std::size_t, Threads<Model>> threads;
  std::map<std::size_t, std::vector<products::Products>> parts;  // of a step's products, by how many these are
  SGD sgd{1e-6};
  const auto adam = std::make_unique<Adam<Model>>(Adam<Model>{.learning_rate = 1e-6});
  const auto repeated = [&](const auto& action) {
    return measure::milliseconds([&] {
      for (std::size_t k = 0; k < times; ++k) action();
    });
  };
  const auto step = [&](auto& optimizer) {
    const SharedBatch shared{threads.try_emplace(thread_count, thread_count).first->second, batch};
    return repeated([&] {
      zero_grad(*gradient);
      loss_and_gradient(*model, shared, *gradient);
      optimizer(*model, *gradient);
    });
  };
  const auto generate = [&](std::size_t texts) {
    return repeated([&] { decode_all(*model, std::vector<std::vector<Token>>(texts), {start, none, length + 1}); });
  };
  const auto multiply = [&] {
    const std::size_t part_count = std::min(thread_count, count);
    auto& of_parts = parts[part_count];
    while (of_parts.size() < part_count)
      of_parts.push_back(products::of(c, count / part_count, length, products::Attention::visible));
    return measure::milliseconds([&] { products::run(of_parts, times); });
  };
  const std::map<std::string, std::function<double()>> actions{
      {"SGD", [&] { return step(sgd); }},
      {"Adam", [&] { return step(*adam); }},
      {"scores", [&] { return repeated([&] { (*model)(read); }); }},
      {"a text", [&] { return generate(1); }},
      {"16 texts", [&] { return generate(16); }},
      {"products", multiply}};
  const OneThreadPerProduct on_each;  // the threads are ours
  std::cout << "ready" << std::endl;
  for (std::string action; std::cin >> times >> thread_count && std::getline(std::cin >> std::ws, action);)
    std::cout << actions.at(action)() / double(times) << std::endl;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) return 2;
  const std::map<std::string, void (*)(const std::filesystem::path&)> of_models{
      {"example_0", compete<models::example_0, 4, 6>},
      {"wide_4x128", compete<models::wide, 4, 128>},
      {"wide_1x1024", compete<models::wide, 1, 1024>},
      {"saying", compete<models::saying, 1, 1024>}};
  of_models.at(arguments[1])(arguments[2]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
