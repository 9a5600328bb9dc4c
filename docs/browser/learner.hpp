// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <examples/reverse/model.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/reversal.hpp>
#include <tlm/training/train.hpp>

#include "inside.hpp"
#include "page.hpp"

/// Models that reverse sequences, learned on the page a few steps at a time, and asked meanwhile.
namespace page {

using tlm::Reversal;
using Text = std::vector<tlm::Token>;

/// The tokens of a text such as "3 7". Throws std::invalid_argument unless these are the task's tokens, and as many as it has.
inline Text read_question(std::string_view text, const Reversal& task) {
  Text tokens;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    const char* const word_ends = std::find(at, end, ' ');
    if (at != word_ends) {
      const auto [stop, error] = std::from_chars(at, word_ends, tokens.emplace_back());
      if (error != std::errc{} || stop != word_ends || tokens.back() < 1 || tokens.back() > task.n_tokens)
        tlm::refuse<std::invalid_argument>({"A token is an integer from 1 to ", task.n_tokens, ", not ",
                                            std::string_view(at, std::size_t(word_ends - at)), "."});
    }
    at = std::find_if(word_ends, end, [](char c) { return c != ' '; });
  }
  const auto count = int(tokens.size());
  if (count < task.min_length || count > task.max_length) {
    if (task.min_length == task.max_length)
      tlm::refuse<std::invalid_argument>({"A sequence has ", task.min_length, " tokens, not ", count, "."});
    tlm::refuse<std::invalid_argument>(
        {"A sequence has ", task.min_length, " to ", task.max_length, " tokens, not ", count, "."});
  }
  return tokens;
}

/// The name of an axis, a tab, and its labels: nothing but the tab if it has none.
inline std::string labels(Axis axis, Text read, std::size_t vocab_size) {
  constexpr std::string_view names[] = {"", "tokens read", "queries", "keys", "vocabulary"};
  std::string all = std::string(names[std::size_t(axis)]) + '\t';
  if (axis == Axis::nameless) return all;
  if (axis == Axis::vocabulary) {
    read.resize(vocab_size);
    std::iota(read.begin(), read.end(), 0);
  }
  for (const tlm::Token token : read) all += std::to_string(token) + ' ';
  return all;
}

/// What a box shows, as text and numbers: the matrix whose name is wanted, and how its entry (i, j) was made. What is not there is
/// replaced by what is nearest. The model has read so many tokens of so many.
inline void answer(const Inside& inside, const Text& read, std::size_t vocab_size, const std::string& wanted,
                   std::size_t i, std::size_t j) {
  const Box& box = inside.box;
  text = inside.names + '\n';
  if (box.parts.empty()) return;  // there is no box of this number
  std::string all, shown;
  std::size_t part = 0;
  bool of_gradient = false;
  for (const bool gradient : {false, true})
    for (std::size_t k = 0; k < box.parts.size(); ++k) {
      if (gradient && box.parts[k].gradient.entries.empty()) continue;
      const std::string name = box.name(k, gradient);
      all += name + '\n';
      if (name == wanted || (shown.empty() && k == box.result())) shown = name, part = k, of_gradient = gradient;
    }
  const Table& matrix = of_gradient ? box.parts[part].gradient : box.parts[part].value;
  i = std::min(i, matrix.rows - 1), j = std::min(j, matrix.cols - 1);
  const Explanation made = explain(box, part, of_gradient, i, j);
  text += all + '\n' + shown + '\n' + std::string(made.formula) + '\n' + labels(box.rows(part), read, vocab_size) +
          '\n' + labels(box.columns(part), read, vocab_size);
  numbers.assign({double(matrix.rows), double(matrix.cols), box.is_weight(part) ? 0.0 : of_gradient ? -1.0 : 1.0});
  numbers.insert(numbers.end(), matrix.entries.begin(), matrix.entries.end());
  for (const auto& [a, b] : made.terms) numbers.insert(numbers.end(), {a, b});
}

/// A task of Reversal with the Config of a model that learns it, and a number of steps to offer.
struct Lesson {
  Example task;
  tlm::Config config;
};

/// A lesson, as it is learned.
class Learner {
 public:
  virtual ~Learner() = default;
  /// Takes so many steps, and answers with their losses.
  virtual void train(std::size_t steps) = 0;
  /// Answers the question in text: whether rightly, how many tokens, the tokens, and the attention of every head while
  /// they are read, −1 for what is hidden; as text, the layer of each head.
  virtual void ask() const = 0;
  /// Looks inside a training step (inside.hpp) with the sequence in the first line of text and its right answer. The second
  /// line names a matrix of the box; if the box has none of that name, its result is taken. Answers with text: the boxes, the
  /// matrices of the box, the name of the one that is shown, a formula, and the labels of its rows and columns. And with numbers:
  /// its rows and columns; 1 if row i depends on no later row, −1 if on no earlier one, else 0; its entries; and the terms of
  /// entry (i, j). If there is no such box, it answers with the boxes alone.
  virtual void look(std::size_t box, std::size_t i, std::size_t j) const = 0;
  /// Answers all questions of the task: how many rightly, and how many there are.
  virtual void test() const = 0;
};

template <Lesson lesson>
class LearnerOf final : public Learner {
 public:
  LearnerOf(std::uint64_t seed, bool by_sgd) : generator_{seed} {
    tlm::initialize_uniform(model_, generator_);
    if (by_sgd)
      optimizer_ = tlm::SGD{};
    else
      optimizer_ = tlm::Adam<Model>{};
  }

  void train(std::size_t steps) override {
    constexpr std::size_t batch_size = 4;
    numbers.clear();
    tlm::train(
        model_, optimizer_, [&] { return task_.batch(batch_size, generator_); }, steps,
        [](const tlm::Progress& progress) {
          numbers.push_back(progress.loss);
          return tlm::Continue::yes;
        });
  }

  void ask() const override {
    const Text tokens = read_question(text, task_);
    const Text said = answers({tokens}).front();
    text.clear();
    numbers.assign({double(said == Reversal::solved(tokens)), double(said.size())});
    numbers.insert(numbers.end(), said.begin(), said.end());
    const auto keep = [](const std::string& layer, const auto& A) {
      for (std::size_t h = 0; h < std::remove_cvref_t<decltype(A)>::n_heads; ++h) {
        text += layer + ", head " + std::to_string(h + 1) + '\n';
        const auto alpha = A(0, h);
        for (std::size_t i = 0; i < alpha.rows; ++i)
          for (std::size_t j = 0; j < alpha.cols; ++j)
            numbers.push_back(j < alpha.visible(i) ? double(alpha(i, j)) : -1);
      }
    };
    program::Walk{keep}("", model_, tlm::Tokens{as_read(said)});
  }

  void look(std::size_t box, std::size_t i, std::size_t j) const override {
    const std::size_t line = std::min(text.find('\n'), text.size());
    const std::string wanted = text.substr(std::min(line + 1, text.size()));
    const Text tokens = read_question(std::string_view(text).substr(0, line), task_);
    const Text solved = Reversal::solved(tokens);
    tlm::Batch<> batch{Reversal::separator, tlm::Tokens{solved}, {}};
    batch.omega = tlm::Matrix<tlm::n, 1>{batch.x.sequences()};
    const float c = float(solved.size() - tokens.size() - 1);
    for (std::size_t k = tokens.size() + 1; k < solved.size(); ++k) batch.omega(k, 0) = 1;
    const auto [loss, gradient] = tlm::value_and_gradient(model_, batch);

    Inside inside{box};
    const Text read = as_read(solved);
    const auto [Z, pullback] = inside("", model_, tlm::Tokens{read});
    auto Y = tlm::log_softmax(Z);
    const auto Z_bar = tlm::cross_entropy_gradient(Y, batch.x, batch.omega, c);
    pullback(Z_bar, gradient);
    std::vector<double> shares;
    for (std::size_t k = 0; k < solved.size(); ++k) shares.push_back(double(batch.omega(k, 0) / c));
    for (std::size_t k = 0; k < Y.rows(); ++k) Y.row(k) = xt::exp(Y.row(k));
    inside.loss(Z, Y, batch.x, shares, Z_bar);
    answer(inside, read, Model::config.vocab_size, wanted, i, j);
  }

  void test() const override {
    const std::vector<Text> all = task_.all();
    const std::vector<Text> said = answers(all);
    double right = 0;
    for (std::size_t k = 0; k < all.size(); ++k) right += said[k] == Reversal::solved(all[k]);
    numbers.assign({right, double(all.size())});
  }

 private:
  using Model = tlm::TransformerLM<lesson.config>;

  std::vector<Text> answers(const std::vector<Text>& sequences) const {
    std::vector<Text> questions;
    for (const Text& tokens : sequences) questions.push_back(Reversal::question(tokens));
    return tlm::decode_all(model_, questions, {Reversal::separator, Reversal::separator, Model::config.max_len});
  }

  /// What the model reads to say an answer: the token that starts, and all of it but the last.
  static Text as_read(Text answer) {
    answer.insert(answer.begin(), Reversal::separator);
    answer.pop_back();
    return answer;
  }

  const Reversal task_{lesson.task.n_tokens, lesson.task.min_length, lesson.task.max_length};
  tlm::Generator generator_;
  Model model_;
  std::function<void(Model&, const Model&)> optimizer_;
};

inline std::unique_ptr<Learner> learner;

/// The Config as it is written in C++.
inline std::string written(const tlm::Config& c) {
  const auto number = [](const char* name, std::size_t value) {
    return std::string(".") + name + " = " + std::to_string(value) + ", ";
  };
  return "tlm::TransformerLM<tlm::Config{" + number("vocab_size", c.vocab_size) + number("d_model", c.d_model) +
         number("d_ff", c.d_ff) + number("n_layers", c.n_layers) + number("n_heads", c.n_heads) +
         number("max_len", c.max_len) +
         ".block = tlm::Block::" + (c.block == tlm::Block::definition ? "definition" : "inspirational") + "}>";
}

/// Makes a new model for one of the lessons; answers with its type as text, and the number of steps to offer.
template <const auto& lessons, std::size_t lesson = 0>
void begin(std::size_t number, std::uint64_t seed, bool by_sgd) {
  if constexpr (lesson < std::size(lessons)) {
    if (number != lesson) return begin<lessons, lesson + 1>(number, seed, by_sgd);
    learner.reset();  // before the next one is made: two have no room
    learner = std::make_unique<LearnerOf<lessons[lesson]>>(seed, by_sgd);
    text = written(lessons[lesson].config);
    numbers.assign({double(lessons[lesson].task.steps)});
  }
}

}  // namespace page

extern "C" {
[[clang::export_name("train")]] inline void train(unsigned steps) { page::learner->train(steps); }
[[clang::export_name("ask")]] inline void ask() { page::learner->ask(); }
[[clang::export_name("look")]] inline void look(unsigned box, unsigned i, unsigned j) {
  page::learner->look(box, i, j);
}
[[clang::export_name("test")]] inline void test() { page::learner->test(); }
}
