// SPDX-License-Identifier: MIT
// The notebook's examples, learned on the page a few steps at a time, and asked meanwhile.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

namespace {

using tlm::Reversal;
using Text = std::vector<tlm::Token>;

/// The tokens of a text such as "3 7". Throws std::invalid_argument unless these are the task's tokens, and as many as it has.
Text read_question(std::string_view text, const Reversal& task) {
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

/// One of the examples, as it is learned.
class Learner {
 public:
  virtual ~Learner() = default;
  /// Takes so many steps, and answers with their losses.
  virtual void train(std::size_t steps) = 0;
  /// Answers the question in page::text: whether rightly, how many tokens, the tokens, and the attention of every head while
  /// they are read, −1 for what is hidden; as text, the layer of each head.
  virtual void ask() const = 0;
  /// Answers the question in page::text, and looks inside while the answer is read (inside.hpp): the matrices and a formula as
  /// text; how many rows and columns the matrix has, its entries, and the terms of entry (i, j).
  virtual void look(std::size_t box, std::size_t i, std::size_t j) const = 0;
  /// Answers all questions of the task: how many rightly, and how many there are.
  virtual void test() const = 0;
};

template <Example e>
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
    page::numbers.clear();
    tlm::train(
        model_, optimizer_, [&] { return task_.batch(batch_size, generator_); }, steps,
        [](const tlm::Progress& progress) {
          page::numbers.push_back(progress.loss);
          return tlm::Continue::yes;
        });
  }

  void ask() const override {
    const Text tokens = read_question(page::text, task_);
    const Text said = answers({tokens}).front();
    page::text.clear();
    page::numbers.assign({double(said == Reversal::solved(tokens)), double(said.size())});
    page::numbers.insert(page::numbers.end(), said.begin(), said.end());
    const auto keep = [](const std::string& layer, const auto& A) {
      for (std::size_t h = 0; h < std::remove_cvref_t<decltype(A)>::n_heads; ++h) {
        page::text += layer + ", head " + std::to_string(h + 1) + '\n';
        const auto alpha = A(0, h);
        for (std::size_t i = 0; i < alpha.rows; ++i)
          for (std::size_t j = 0; j < alpha.cols; ++j)
            page::numbers.push_back(j < alpha.visible(i) ? double(alpha(i, j)) : -1);
      }
    };
    program::Walk{keep}("", model_, as_read(said));
  }

  void look(std::size_t box, std::size_t i, std::size_t j) const override {
    page::Inside inside{box, i, j};
    inside("", model_, as_read(answers({read_question(page::text, task_)}).front()));
    page::text = inside.names + '\n' + inside.formula;
    page::numbers.assign({double(inside.rows), double(inside.cols)});
    for (const auto* list : {&inside.entries, &inside.terms})
      page::numbers.insert(page::numbers.end(), list->begin(), list->end());
  }

  void test() const override {
    const std::vector<Text> all = task_.all();
    const std::vector<Text> said = answers(all);
    double right = 0;
    for (std::size_t k = 0; k < all.size(); ++k) right += said[k] == Reversal::solved(all[k]);
    page::numbers.assign({right, double(all.size())});
  }

 private:
  using Model = ModelOf<e, tlm::Block::definition>;

  std::vector<Text> answers(const std::vector<Text>& sequences) const {
    std::vector<Text> questions;
    for (const Text& tokens : sequences) questions.push_back(Reversal::question(tokens));
    return tlm::decode_all(model_, questions, {Reversal::separator, Reversal::separator, Model::config.max_len});
  }

  /// What the model reads to say an answer: the token that starts, and all of it but the last.
  static tlm::Tokens as_read(Text answer) {
    answer.insert(answer.begin(), Reversal::separator);
    answer.pop_back();
    return tlm::Tokens{answer};
  }

  const Reversal task_{e.n_tokens, e.min_length, e.max_length};
  tlm::Generator generator_;
  Model model_;
  std::function<void(Model&, const Model&)> optimizer_;
};

std::unique_ptr<Learner> learner;

template <std::size_t example = 0>
void begin(std::size_t number, std::uint64_t seed, bool by_sgd) {
  if constexpr (example < std::size(examples)) {
    if (number != example) return begin<example + 1>(number, seed, by_sgd);
    learner.reset();  // before the next one is made: two have no room
    learner = std::make_unique<LearnerOf<examples[example]>>(seed, by_sgd);
    page::numbers.assign({double(examples[example].steps)});
  }
}

}  // namespace

extern "C" {
/// A new model for an example, which learns by Adam or by SGD; answers with the notebook's number of steps.
[[clang::export_name("begin")]] void begin_learning(unsigned example, unsigned seed, unsigned by_sgd) {
  begin(example, seed, by_sgd != 0);
}
[[clang::export_name("train")]] void train(unsigned steps) { learner->train(steps); }
[[clang::export_name("ask")]] void ask() { learner->ask(); }
[[clang::export_name("look")]] void look(unsigned box, unsigned i, unsigned j) { learner->look(box, i, j); }
[[clang::export_name("test")]] void test() { learner->test(); }
}
