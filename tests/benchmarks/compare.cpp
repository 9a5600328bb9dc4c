// SPDX-License-Identifier: MIT
// What compare.py measures beside PyTorch. `compare MODEL DIRECTORY` makes a model and a batch, and keeps them in the
// directory with its results, in float and in double. Then it answers each line `ACTION TIMES THREADS` of its input
// with a line: the milliseconds of one action. The action "products" is the matrix products of a step alone, by one
// call of the same BLAS each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>
#include <tlm/storage/safetensors.hpp>

#include "models.hpp"
#include "products.hpp"
#include "timing.hpp"

using namespace tlm;

namespace {

/// Keeps a matrix in a file, under the name "X".
template <class M>
void save(const std::filesystem::path& path, const M& X) {
  std::vector<storage::Tensor> tensors;
  storage::add_numbers(tensors, "X", std::span{X.data(), X.rows() * M::cols}, {X.rows(), M::cols});
  storage::write(path, std::move(tensors));
}

constexpr Token start = 0, none = -1;

/// Generates this many texts of `length` tokens, always with the maximum score. Returns the scores of the first text.
template <class Model>
auto say(const Model& model, std::size_t texts, std::size_t length) {
  Generation<Model> generation{model, std::vector<std::vector<Token>>(texts), {start, none, length + 1}};
  const Greedy choose;
  typename Model::codomain scores{Sequences{length}};
  for (std::size_t i = 0; i < length; ++i) {
    const auto Y = generation.next_scores();
    for (std::size_t k = 0; k < texts; ++k) generation.append(k, choose(Y.row(k).data(), Y.cols));
    scores.row(i) = Y.row(0);
  }
  return scores;
}

/// Keeps the weights of a model, the scores of a batch, the gradient of its loss, and the scores of a generated text in
/// a directory.
template <class Model>
void keep(const std::filesystem::path& directory, const Model& model, const Tokens& x, std::size_t length) {
  const Batch<typename Model::Real> batch = unweighted<typename Model::Real>(start, x);
  std::filesystem::create_directory(directory);
  storage::save_weights(directory / "weights.safetensors", model);
  save(directory / "scores.safetensors", model(detail::after_start(start, x)));
  storage::save_weights(directory / "gradient.safetensors", value_and_gradient(model, batch).gradient);
  save(directory / "said.safetensors", say(model, 1, length));
}

/// A model, a batch that it learns from, and texts that it generates.
template <Config c, std::size_t count, std::size_t length>
class Contestant {
 public:
  explicit Contestant(const std::filesystem::path& directory) {
    std::vector<std::int64_t> tokens(batch_.x.data(), batch_.x.data() + batch_.x.rows());
    std::vector<storage::Tensor> tensors;
    storage::add_numbers(tensors, "X", std::span{std::as_const(tokens)}, {count, length});
    storage::write(directory / "tokens.safetensors", std::move(tensors));
    keep(directory / "float", *model_, batch_.x, length);
    Generator generator{2};
    keep(directory / "double", *models::random_model<TransformerLM<c, double>>(generator), batch_.x, length);
  }

  /// Milliseconds for one of `times` times an action.
  double milliseconds(const std::string& action, std::size_t times, std::size_t thread_count) {
    const OneThreadPerProduct on_each;  // the threads are ours
    if (action == "products") return milliseconds_of_products(times, thread_count);
    auto& threads = threads_[thread_count];
    if (!threads) threads = std::make_unique<Threads<Model>>(thread_count);
    const SharedBatch shared{*threads, batch_};
    const auto step = [&](auto& optimizer) {
      zero_grad(*gradient_);
      loss_and_gradient(*model_, shared, *gradient_);
      optimizer(*model_, *gradient_);
    };
    return timing::milliseconds([&] {
             for (std::size_t k = 0; k < times; ++k)
               if (action == "SGD")
                 step(sgd_);
               else if (action == "Adam")
                 step(*adam_);
               else if (action == "scores")
                 (*model_)(read_);
               else if (action == "a text")
                 say(*model_, 1, length);
               else if (action == "16 texts")
                 say(*model_, 16, length);
               else
                 throw std::invalid_argument("nothing is called " + action);
           }) /
           double(times);
  }

 private:
  using Model = TransformerLM<c>;

  /// The same for the products of a step.
  double milliseconds_of_products(std::size_t times, std::size_t thread_count) {
    const std::size_t part_count = std::min(thread_count, count);
    auto& parts = products_[part_count];
    while (parts.size() < part_count)
      parts.push_back(products::of(c, count / part_count, length, products::Attention::visible));
    ThreadPool threads{thread_count};
    return timing::milliseconds([&] { products::run(threads, parts, times); }) / double(times);
  }

  Generator generator_{1};
  std::unique_ptr<Model> model_ = models::random_model<Model>(generator_), gradient_ = std::make_unique<Model>();
  Batch<> batch_ = unweighted(start, models::random_tokens(count, length, c.vocab_size, generator_));
  Tokens read_ = detail::after_start(start, batch_.x);
  SGD sgd_{1e-6};
  std::unique_ptr<Adam<Model>> adam_ = std::make_unique<Adam<Model>>(Adam<Model>{.learning_rate = 1e-6});
  std::map<std::size_t, std::unique_ptr<Threads<Model>>> threads_;
  std::map<std::size_t, std::vector<products::Products>> products_;  // of each part of a step, by how many these are
};

template <class Contestant>
void compete(const std::string& directory) {
  Contestant contestant{directory};
  std::cout << "ready" << std::endl;
  for (std::string line, action; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::size_t times = 0, threads = 0;
    std::getline(words, action, '\t') >> times >> threads;
    std::cout << contestant.milliseconds(action, times, threads) << std::endl;
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) return 2;
  const std::string model = arguments[1], directory = arguments[2];
  if (model == "example_0")
    compete<Contestant<models::example_0, 4, 6>>(directory);
  else if (model == "wide_4x128")
    compete<Contestant<models::wide, 4, 128>>(directory);
  else if (model == "wide_1x1024")
    compete<Contestant<models::wide, 1, 1024>>(directory);
  else if (model == "saying")
    compete<Contestant<models::saying, 1, 1024>>(directory);
  else
    throw std::invalid_argument("no model is called " + model);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
