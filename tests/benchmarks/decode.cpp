// SPDX-License-Identifier: MIT
// How fast a model says n tokens: by extending what it remembers, by computing the whole anew for every token, and 16 texts at
// once; and beside that, how long two things take alone that 16 texts cannot do without: to multiply 16 rows by all weights, and
// to read the keys and values of each. One thread; d_model 128, d_ff 512, 2 blocks, 2 heads, 256 tokens, weights at random, none
// of which ends a text.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tlm/tlm.hpp>

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

/// When each token of `count` texts of `longest` tokens is said, which are said together: in milliseconds.
std::vector<double> times(const Model& model, std::size_t count) {
  Utterances<Model> utterances{model, std::vector<std::vector<Token>>(count), {0, none, longest + 1}};
  const Greedy choose;
  std::vector<double> when{now()};
  while (!utterances.ended()) {
    const auto Y = utterances.next();
    for (std::size_t k = 0; k < count; ++k) utterances.say(k, choose(Y.row(k).data(), Y.cols));
    when.push_back(now());
  }
  return when;
}

/// Milliseconds until what each token costs is done, where token i costs of(i): every 64th is measured, or the last of fewer,
/// and those before it are taken to lie on the line between.
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

/// Milliseconds until each token is said, if all rows are computed for each.
std::vector<double> times_anew(const Model& model) {
  return added_up([&](std::size_t i) {
    const Tokens x{std::vector<Token>(i, 1)};
    return milliseconds([&] { model(x); });
  });
}

/// The same, if there were but the products of 16 rows and the weights.
std::vector<double> times_of_products() {
  auto products = products::of_a_token(models::saying, at_once);
  const double of_each = milliseconds([&] {
                           for (std::size_t k = 0; k < longest; ++k) products.run();
                         }) /
                         double(longest);
  std::vector<double> when;
  for (std::size_t i = 0; i <= longest; ++i) when.push_back(double(i) * of_each);
  return when;
}

/// The same, if there were but the keys and values of 16 texts to be read.
std::vector<double> times_of_reading() {
  constexpr std::size_t of_a_row = 2 * models::saying.n_layers * models::saying.d_model;
  const std::vector<float> remembered(at_once * longest * of_a_row, 1.0f);
  volatile float sum = 0;
  return added_up(
      [&](std::size_t i) { return milliseconds([&] { sum = peak::read(remembered, at_once * i * of_a_row); }); });
}

}  // namespace

int main(int, char** arguments) {
  Generator generator{1};
  const auto model = models::random_model<Model>(generator);
  std::vector<std::vector<double>> one, together, anew, multiplied, read;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const auto of_one = times(*model, 1), of_all = times(*model, at_once), of_anew = times_anew(*model),
               of_products = times_of_products(), of_reading = times_of_reading();
    if (round == 0) continue;  // to warm up
    multiplied.push_back(of_products);
    read.push_back(of_reading);
    one.push_back(of_one);
    together.push_back(of_all);
    anew.push_back(of_anew);
  }
  const auto until = [](const std::vector<std::vector<double>>& runs, std::size_t n_tokens) {
    std::vector<double> ms;
    for (const auto& when : runs) ms.push_back(when[n_tokens] - when[0]);
    return median(ms);
  };
  table::Table results{{"n", "extended ms", "tokens/s", "anew ms", "anew tokens/s", "anew ÷ extended", "16 texts ms",
                        "16 texts tokens/s", "16 texts ÷ one, tokens/s", "products alone ms", "reading alone ms",
                        "one, 16 times, ÷ both"}};
  for (std::size_t n_tokens = 16; n_tokens <= longest; n_tokens *= 2) {
    const double of_one = until(one, n_tokens), of_all = until(together, n_tokens), whole = until(anew, n_tokens),
                 of_products = until(multiplied, n_tokens), of_reading = until(read, n_tokens);
    const double tokens = 1e3 * double(n_tokens);
    results.row({std::to_string(n_tokens), rounded(of_one, 2), rounded(tokens / of_one, 0), rounded(whole, 2),
                 rounded(tokens / whole, 0), rounded(whole / of_one, 1), rounded(of_all, 2),
                 rounded(at_once * tokens / of_all, 0), rounded(double(at_once) * of_one / of_all, 1),
                 rounded(of_products, 2), rounded(of_reading, 2),
                 rounded(double(at_once) * of_one / (of_products + of_reading), 1)});
  }
  results.write(arguments[1]);
}
