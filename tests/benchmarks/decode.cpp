// SPDX-License-Identifier: MIT
// How fast a model generates n tokens: by extending what it remembers, by computing the whole again for every token,
// and 16 texts at once. Two things are needed in any case, for one text and for 16, and are timed alone: multiplying a
// row of each text by all weights, and reading the keys and values of each. There is one thread; d_model 128, d_ff 512,
// 2 blocks, 2 heads, 256 tokens. The weights are random, and no text ends.

#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <tlm/all.hpp>

#include "measure.hpp"
#include "models.hpp"
#include "products.hpp"

using namespace tlm;
using measure::row, measure::rounded;

namespace {

constexpr std::size_t longest = models::saying.max_len - 1, at_once = 16;
constexpr std::size_t remembered = 2 * models::saying.n_layers * models::saying.d_model;  // numbers of each token

/// Reads numbers, and leaves out those that make no whole 128. It uses 128 sums, so that no addition waits for the one
/// before.
float read(const std::vector<float>& numbers, std::size_t count) {
  std::array<float, 128> sums{};
  for (std::size_t e = 0; e + sums.size() <= count; e += sums.size())
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += numbers[e + k];
  return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

}  // namespace

int main() {
  Generator generator{1};
  const auto model = models::random_model<TransformerLM<models::saying>>(generator);
  const std::vector<float> numbers(at_once * longest * remembered, 1.0f);
  volatile float sum = 0;
  row({"n", "extended ms", "tokens/s", "a row's products ms", "reading ms", "anew ms", "anew ÷ extended", "anew ÷ both",
       "16 texts ms", "16 texts tokens/s", "16 rows' products ms", "reading of 16 ms", "16 texts ÷ one, tokens/s",
       "one, 16 times, ÷ both"});
  for (std::size_t n_tokens = 16; n_tokens <= longest; n_tokens *= 2) {
    const auto extended = [&](std::size_t texts) {
      return [&, texts] { decode_all(*model, std::vector<std::vector<Token>>(texts), {0, -1, n_tokens + 1}); };
    };
    const auto multiplied = [&](std::size_t texts) {
      return [&, products = products::of_a_token(models::saying, texts)] {
        for (std::size_t k = 0; k < n_tokens; ++k) products.run();
      };
    };
    // What grows with a text is done for 16 of its tokens, at equal distances. The others cost as much as the nearest.
    const auto for_16_lengths = [&](const auto& action) {
      for (std::size_t k = 0; k < 16; ++k) action((2 * k + 1) * n_tokens / 32 + 1);
    };
    const auto reading = [&](std::size_t texts) {
      return
          [&, texts] { for_16_lengths([&](std::size_t length) { sum = read(numbers, texts * length * remembered); }); };
    };
    const auto anew = [&] {
      for_16_lengths([&](std::size_t length) { (*model)(Tokens{std::vector<Token>(length, 1)}); });
    };
    auto [one, row_products, row_read, whole, all, rows_products, rows_read] = measure::medians(
        5, extended(1), multiplied(1), reading(1), anew, extended(at_once), multiplied(at_once), reading(at_once));
    for (double* of_16 : {&row_read, &whole, &rows_read}) *of_16 *= double(n_tokens) / 16;
    const double tokens = 1e3 * double(n_tokens);
    row({std::to_string(n_tokens), rounded(one, 2), rounded(tokens / one, 0), rounded(row_products, 2),
         rounded(row_read, 2), rounded(whole, 2), rounded(whole / one, 1),
         rounded(whole / (row_products + row_read), 1), rounded(all, 2), rounded(at_once * tokens / all, 0),
         rounded(rows_products, 2), rounded(rows_read, 2), rounded(at_once * one / all, 1),
         rounded(at_once * one / (rows_products + rows_read), 1)});
  }
}
