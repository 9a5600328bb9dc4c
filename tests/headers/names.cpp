// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <tlm/tlm.hpp>

// A program that opens the library's namespace may still give its models and their parts, its data and its variables
// the usual names. No name of the library is in the way, even if std is open, too.
using namespace tlm;

// clang-format off
struct SelfAttention {}; struct CrossAttention {}; struct Bigram : Embedding<5, 5> {};
struct Data {}; struct Dataset {}; struct Decoder {}; struct Encoder {}; struct GPT {}; struct Head {};
struct Hidden {}; struct LM {}; struct LanguageModel {}; struct Linear {}; struct MLP {}; struct Model : Bigram {};
struct MyLayer {}; struct MyModel {}; struct Optimizer {}; struct Options {}; struct Parameters {}; struct Task {};
struct Text {}; struct Tokenizer {}; struct Trainer {}; struct Transformer {}; struct Vocabulary {};
struct Corpus {}; struct Pair {}; struct Sentence {}; struct Split {};
using Rows = Matrix<n, 8>; using Weights = Matrix<n, 1>;

using Names = std::tuple<SelfAttention, CrossAttention, Bigram, Data, Dataset, Decoder, Encoder, GPT,
                          Head, Hidden, LM, LanguageModel, Linear, MLP, Model, MyLayer, MyModel, Optimizer, Options,
                          Parameters, Task, Text, Tokenizer, Trainer, Transformer, Vocabulary, Corpus, Pair, Sentence,
                          Split, Rows, Weights>;

// Variables of this type, each of which is used: only then an ambiguous name is seen.
#define VARIABLES(Type, ...) Type __VA_ARGS__; auto all_##Type = std::tie(__VA_ARGS__)
VARIABLES(int, batch_size, cols, count, d, d_ff, d_head, d_k, d_model, dim, epoch, epochs, h, i, j, k, layers, length,
          lengths, m, max_len, n_heads, n_layers, position, rows, s, seed, size, start, step, steps, t, token,
          vocab_size);
VARIABLES(double, accuracy, alpha, beta, epsilon, eta, learning_rate, mean, sum, temperature);
VARIABLES(Rows, A, B, C, G, H, K, M, N, P, Q, S, T, V, W, X, Y, Z, a, b, dX, f, keys, queries, result, u, v, values, w,
          z);
VARIABLES(Tokens, answer, answers, input, output, prompt, question, sources, source, target, targets, text, tokens, x,
          xs, y, ys);
VARIABLES(Weights, omega, weights);
VARIABLES(Model, bigram, decoder, encoder, gradient, language_model, layer, lm, model, my_model, net, network, student,
          teacher, transformer);
VARIABLES(Data, batch, batches, bias, block, blocks, config, data, dataset, embedding, errors, history, linear, logits,
          losses, mask, memory, optimizer, options, params, probabilities, sequences, sgd, state, states, task,
          tokenizer, vocabulary, bytes, corpus, english, french, held_out, letters, merges, numbers, pair, pairs,
          pieces, sentences, training, words);
Adam<Model> adam;
Generator generator{1}, random_numbers{2}, rng{3};
auto all_others = std::tie(adam, generator, random_numbers, rng);
// clang-format on

#ifdef WRONG
int loss;
const int wrong = loss;
#endif

int main() {
  using namespace std;
  static_assert(tuple_size_v<Names> == 32);
  // In a function anything may be called anything.
  const auto loss = tlm::loss(model, unweighted(0, Tokens{{1, 2}, {3}}));
  const auto scores = model(Tokens{{1, 2}, {}, {3}});
  vector<double> numbers{exp(1.0), sqrt(2.0), log(3.0), sin(4.0), cos(0.f), loss};
  for (size_t i = 0, n = scores.rows(); i < n; ++i) numbers.push_back(scores(i, 0));
  // Functions that both namespaces have.
  const double total = apply([](auto... number) { return (0.0 + ... + number); }, tuple{1, 2.5, 3});
  sort(numbers.begin(), numbers.end());
  return get<0>(all_int) != 0 || accumulate(numbers.begin(), numbers.end(), total) < 0;
}
