// SPDX-License-Identifier: MIT
// How fast a model generates n tokens: by extending what it remembers, by computing the whole again for every token,
// and 16 texts at once. Two things are needed in any case, for one text and for 16, and are timed alone: multiplying a
// row of each text by all weights, and reading the keys and values of each. There is one thread; d_model 128, d_ff 512,
// 2 blocks, 2 heads, 256 tokens. The weights are random, and no text ends.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tlm/all.hpp>

#include "models.hpp"
#include "peak.hpp"
#include "products.hpp"
#include "table.hpp"
#include "timing.hpp"

using namespace tlm;
using table::rounded;
using timing::median, timing::milliseconds, timing::now;

namespace {

constexpr std::size_t longest = models::saying.max_len - 1, at_once = 16, rounds = 5;
constexpr Token none = -1;
using Model = TransformerLM<models::saying>;

/// When each token of `count` texts of `longest` tokens is generated, all texts together: in milliseconds.
std::vector<double> times(const Model& model, std::size_t count) {
  Generation<Model> generation{model, std::vector<std::vector<Token>>(count), {0, none, longest + 1}};
  const Greedy choose;
  std::vector<double> when{now()};
  while (!generation.ended()) {
    const auto Y = generation.next_scores();
    for (std::size_t k = 0; k < count; ++k) generation.append(k, choose(Y.row(k).data(), Y.cols));
    when.push_back(now());
  }
  return when;
}

/// Milliseconds until each token is done, where token i costs of(i). Every 64th is measured, or the last if there are
/// fewer. Those between are interpolated linearly.
template <class Of>
std::vector<double> added_up(const Of& of) {
  std::vector<double> when{0};
  double before = 0;
  for (std::size_t next = 8; when.size() <= longest; next = std::min(2 * next, next + 64)) {
    const double of_this = of(next);
    for (const std::size_t first = when.size(), count = next - first + 1; when.size() <= next;)
      when.push_back(when.back() + before + (of_this - before) * double(when.size() - first + 1) / double(count));
    before = of_this;
  }
  return when;
}

/// Milliseconds until each token is generated, if all rows are computed for each.
std::vector<double> times_anew(const Model& model) {
  return added_up([&](std::size_t i) {
    const Tokens x{std::vector<Token>(i, 1)};
    return milliseconds([&] { model(x); });
  });
}

/// The same of `count` texts, if there were but the products of a row of each and the weights.
std::vector<double> times_of_products(std::size_t count) {
  auto products = products::of_a_token(models::saying, count);
  const double of_each = milliseconds([&] {
                           for (std::size_t k = 0; k < longest; ++k) products.run();
                         }) /
                         double(longest);
  std::vector<double> when;
  for (std::size_t i = 0; i <= longest; ++i) when.push_back(double(i) * of_each);
  return when;
}

/// The same, if there were but the keys and values of each to be read.
std::vector<double> times_of_reading(std::size_t count) {
  constexpr std::size_t of_a_row = 2 * models::saying.n_layers * models::saying.d_model;
  const std::vector<float> remembered(count * longest * of_a_row, 1.0f);
  volatile float sum = 0;
  return added_up(
      [&](std::size_t i) { return milliseconds([&] { sum = peak::read(remembered, count * i * of_a_row); }); });
}

}  // namespace

int main() {
  Generator generator{1};
  const auto model = models::random_model<Model>(generator);
  // When each token was generated, for all rounds.
  using Rounds = std::vector<std::vector<double>>;
  struct {
    Rounds said, multiplied, read;
  } one, together;
  Rounds anew;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const auto measured = [&](Rounds& all, std::vector<double> when) {
      if (round > 0) all.push_back(std::move(when));  // the first one warms up
    };
    measured(one.said, times(*model, 1));
    measured(together.said, times(*model, at_once));
    measured(anew, times_anew(*model));
    measured(one.multiplied, times_of_products(1));
    measured(together.multiplied, times_of_products(at_once));
    measured(one.read, times_of_reading(1));
    measured(together.read, times_of_reading(at_once));
  }
  const auto until = [](const Rounds& rounds_of, std::size_t n_tokens) {
    std::vector<double> ms;
    for (const auto& when : rounds_of) ms.push_back(when[n_tokens] - when[0]);
    return median(ms);
  };
  table::row({"n", "extended ms", "tokens/s", "a row's products ms", "reading ms", "anew ms", "anew ÷ extended",
              "anew ÷ both", "16 texts ms", "16 texts tokens/s", "16 rows' products ms", "reading of 16 ms",
              "16 texts ÷ one, tokens/s", "one, 16 times, ÷ both"});
  for (std::size_t n_tokens = 16; n_tokens <= longest; n_tokens *= 2) {
    const auto ms = [&](const Rounds& all) { return until(all, n_tokens); };
    const auto both = [&](const auto& of) { return ms(of.multiplied) + ms(of.read); };
    const double of_one = ms(one.said), of_all = ms(together.said), whole = ms(anew);
    const double tokens = 1e3 * double(n_tokens);
    table::row({std::to_string(n_tokens), rounded(of_one, 2), rounded(tokens / of_one, 0),
                rounded(ms(one.multiplied), 2), rounded(ms(one.read), 2), rounded(whole, 2), rounded(whole / of_one, 1),
                rounded(whole / both(one), 1), rounded(of_all, 2), rounded(at_once * tokens / of_all, 0),
                rounded(ms(together.multiplied), 2), rounded(ms(together.read), 2),
                rounded(double(at_once) * of_one / of_all, 1), rounded(double(at_once) * of_one / both(together), 1)});
  }
}
