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

int batch_size, cols, count, d, d_ff, d_head, d_k, d_model, dim, epoch, epochs, h, i, j, k, layers, length, lengths, m,
    max_len, n_heads, n_layers, position, rows, s, seed, size, start, step, steps, t, token, vocab_size;
double accuracy, alpha, beta, epsilon, eta, learning_rate, mean, sum, temperature;
Rows A, B, C, G, H, K, M, N, P, Q, S, T, V, W, X, Y, Z, a, b, dX, f, keys, queries, result, u, v, values, w, z;
Tokens answer, answers, input, output, prompt, question, sources, source, target, targets, text, tokens, x, xs, y, ys;
Weights omega, weights;
Model bigram, decoder, encoder, gradient, language_model, layer, lm, model, my_model, net, network, student, teacher,
      transformer;
Data batch, batches, bias, block, blocks, config, data, dataset, embedding, errors, history, linear, logits, losses, mask,
     memory, optimizer, options, params, probabilities, sequences, sgd, state, states, task, tokenizer,
     vocabulary, bytes, corpus, english, french, held_out, letters, merges, numbers, pair, pairs, pieces, sentences, training,
     words;
Generator generator{1}, random_numbers{2}, rng{3};
Adam<Model> adam;

const auto all = std::tie(
    batch_size, cols, count, d, d_ff, d_head, d_k, d_model, dim, epoch, epochs, h, i, j, k, layers, length, lengths, m,
    max_len, n_heads, n_layers, position, rows, s, seed, size, start, step, steps, t, token, vocab_size,
    accuracy, alpha, beta, epsilon, eta, learning_rate, mean, sum, temperature,
    A, B, C, G, H, K, M, N, P, Q, S, T, V, W, X, Y, Z, a, b, dX, f, keys, queries, result, u, v, values, w, z,
    answer, answers, input, output, prompt, question, sources, source, target, targets, text, tokens, x, xs, y, ys,
    omega, weights,
    bigram, decoder, encoder, gradient, language_model, layer, lm, model, my_model, net, network, student, teacher,
    transformer,
    batch, batches, bias, block, blocks, config, data, dataset, embedding, errors, history, linear, logits, losses, mask,
    memory, optimizer, options, params, probabilities, sequences, sgd, state, states, task, tokenizer,
    vocabulary, bytes, corpus, english, french, held_out, letters, merges, numbers, pair, pairs, pieces, sentences, training,
    words,
    generator, random_numbers, rng, adam);
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
  return get<0>(all) != 0 || accumulate(numbers.begin(), numbers.end(), total) < 0;
}
