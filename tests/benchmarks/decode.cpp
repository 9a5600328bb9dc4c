// SPDX-License-Identifier: MIT
// How fast a model says 1,024 tokens: by extending what it remembers, by computing the whole anew for every token, and 16 texts
// at once. One thread; d_model 128, d_ff 512, 2 blocks, 2 heads, 256 tokens, weights at random, none of which ends a text.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

#include <tlm/tlm.hpp>

#include "timing.hpp"

using namespace tlm;
using timing::median, timing::milliseconds, timing::now;

namespace {

constexpr std::size_t length = 1024, at_once = 16;
constexpr Token none = -1;
using Model = TransformerLM<Config{
    .vocab_size = 256, .d_model = 128, .d_ff = 512, .n_layers = 2, .n_heads = 2, .max_len = length + 1}>;

/// When each token of `count` texts of `length` tokens is said, which are said together: in milliseconds.
std::vector<double> times(const Model& model, std::size_t count) {
  Utterances<Model> utterances{model, std::vector<std::vector<Token>>(count), {0, none, length + 1}};
  const Greedy choose;
  std::vector<double> when{now()};
  while (!utterances.ended()) {
    const auto Y = utterances.next();
    for (std::size_t k = 0; k < count; ++k) utterances.say(k, choose(Y.row(k).data(), Y.cols));
    when.push_back(now());
  }
  return when;
}

/// Milliseconds for token n, if all n rows are computed for it.
double anew(const Model& model, std::size_t n_tokens) {
  const Tokens x{std::vector<Token>(n_tokens, 1)};
  return milliseconds([&] { model(x); });
}

}  // namespace

int main() {
  Generator generator{1};
  const auto model = std::make_unique<Model>();
  initialize_uniform(*model, generator);
  std::vector<double> one, first, last, together, first_together, whole;
  for (int round = 0; round <= 5; ++round) {
    const auto when = times(*model, 1);
    const auto of_all = times(*model, at_once);
    double all_anew = 0;  // of which every 16th token is measured
    for (std::size_t n_tokens = 8; n_tokens <= length; n_tokens += 16) all_anew += 16 * anew(*model, n_tokens);
    if (round == 0) continue;  // to warm up
    one.push_back(when[length] - when[0]);
    first.push_back((when[128] - when[0]) / 128);
    last.push_back((when[length] - when[length - 128]) / 128);
    together.push_back(of_all[length] - of_all[0]);
    first_together.push_back((of_all[128] - of_all[0]) / 128);
    whole.push_back(all_anew);
  }
  const double cached = median(one) / 1e3, whole_anew = median(whole) / 1e3, all = median(together) / 1e3;
  std::printf("%-52s %10s %12s\n", "1,024 tokens", "seconds", "tokens/s");
  std::printf("%-52s %10.4f %12.0f\n", "extended", cached, double(length) / cached);
  std::printf("%-52s %10.4f %12.0f   %.0f times as long\n", "computed anew (every 16th token measured)", whole_anew,
              double(length) / whole_anew, whole_anew / cached);
  std::printf("%-52s %10.4f %12.0f   %.1f times as many a second\n", "16 texts at once, extended", all,
              double(at_once * length) / all, double(at_once) * cached / all);
  std::printf("16 texts at once, of the first 128 tokens: %.1f times as many a second as of one\n",
              double(at_once) * median(first) / median(first_together));
  std::printf("microseconds for a token: %.1f of the first 128, %.1f of the last 128, %.2f times as long\n",
              1e3 * median(first), 1e3 * median(last), median(last) / median(first));
}
