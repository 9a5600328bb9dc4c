// SPDX-License-Identifier: MIT
// How long a training step takes, beside the matrix products that it cannot avoid.
//
// In every round a step of training is timed, and then the products of a step alone: every product of the forward and
// the backward pass, of the same shapes and transpositions and by the same BLAS, those of attention as full squares.
// The medians over all rounds are printed, and their ratio. One thread.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

#include <tlm/tlm.hpp>

#include "timing.hpp"

using namespace tlm;
using timing::median, timing::milliseconds;

namespace {

/// Matrix products of fixed shapes: C = A×B, C = A×Bᵀ and C += Aᵀ×B, as in a layer X ↦ X×W and its pullback.
class Products {
 public:
  /// Times W (inner × cols) of `rows` rows, and its pullback.
  void add_layer(std::size_t rows, std::size_t inner, std::size_t cols) {
    add(rows, inner, cols, false, false, Present::overwritten);  // Y = X×W
    add(inner, rows, cols, true, false, Present::added_to);      // W̄ += Xᵀ×Ȳ
    add(rows, cols, inner, false, true, Present::overwritten);   // X̄ = Ȳ×Wᵀ
  }

  /// One head of attention over a sequence of `rows`, and its pullback, as full squares.
  void add_head(std::size_t rows, std::size_t d_head) {
    add(rows, d_head, rows, false, true, Present::overwritten);   // S = Q×Kᵀ
    add(rows, rows, d_head, false, false, Present::overwritten);  // Y = A×V
    add(rows, d_head, rows, false, true, Present::overwritten);   // Ā = Ȳ×Vᵀ
    add(rows, rows, d_head, true, false, Present::overwritten);   // V̄ = Aᵀ×Ȳ
    add(rows, rows, d_head, false, false, Present::overwritten);  // dQ = dS×K
    add(rows, rows, d_head, true, false, Present::overwritten);   // dK = dSᵀ×Q
  }

  void run() {
    for (Product& p : products_)
      multiply<float>(
          p.left_transposed ? stored(p.left, p.inner, p.rows).transposed() : stored(p.left, p.rows, p.inner),
          p.right_transposed ? stored(p.right, p.cols, p.inner).transposed() : stored(p.right, p.inner, p.cols),
          stored(p.result, p.rows, p.cols), p.present);
  }

 private:
  using Entries = xt::uvector<float, CacheLineAllocator<float>>;
  struct Product {
    std::size_t rows, inner, cols;
    bool left_transposed, right_transposed;
    Present present;
    Entries left, right, result;
  };

  static View<float> stored(Entries& entries, std::size_t rows, std::size_t cols) {
    return {entries.data(), rows, cols, cols};
  }

  void add(std::size_t rows, std::size_t inner, std::size_t cols, bool left_transposed, bool right_transposed,
           Present present) {
    products_.push_back({rows, inner, cols, left_transposed, right_transposed, present, Entries(rows * inner, 0.5f),
                         Entries(inner * cols, 0.5f), Entries(rows * cols, 0.0f)});
  }

  std::vector<Product> products_;
};

template <Config c>
void benchmark(const char* name, const Batch<float>& batch, double bar, std::size_t rounds, std::size_t steps_a_round) {
  using Model = TransformerLM<c>;
  auto model = std::make_unique<Model>();
  Generator generator{1};
  initialize_uniform(*model, generator);

  Products products;
  const std::size_t rows = batch.x.rows();
  for (std::size_t layer = 0; layer < c.n_layers; ++layer) {
    for (int projection = 0; projection < 4; ++projection) products.add_layer(rows, c.d_model, c.d_model);
    for (std::size_t s = 0; s < batch.x.sequences().count(); ++s)
      for (std::size_t h = 0; h < c.n_heads; ++h)
        products.add_head(batch.x.sequences().length(s), c.d_model / c.n_heads);
    products.add_layer(rows, c.d_model, c.d_ff);
    products.add_layer(rows, c.d_ff, c.d_model);
  }
  products.add_layer(rows, c.d_model, c.vocab_size);

  SGD sgd{1e-6};
  const auto next_batch = [&] { return batch; };
  const auto report = [](const Progress&) { return Continue::yes; };
  std::vector<double> steps, alone;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const double step = milliseconds([&] { train(*model, sgd, next_batch, steps_a_round, report); });
    const double product = milliseconds([&] {
      for (std::size_t repetition = 0; repetition < steps_a_round; ++repetition) products.run();
    });
    if (round == 0) continue;  // to warm up
    steps.push_back(step / double(steps_a_round));
    alone.push_back(product / double(steps_a_round));
  }
  std::printf("%-62s %9.3f ms %9.3f ms %7.2f %7.2f\n", name, median(steps), median(alone),
              median(steps) / median(alone), bar);
}

Batch<float> random_batch(std::size_t batch_size, std::size_t length, int vocab_size) {
  Generator generator{1};
  const auto sequences = Sequences::of_lengths(std::vector<std::size_t>(batch_size, length));
  Batch<float> batch{0, Tokens{sequences}, Matrix<n, 1, float>{sequences, 1.0f}};
  for (std::size_t i = 0; i < batch.x.rows(); ++i) batch.x(i, 0) = generator.integer(0, vocab_size - 1);
  return batch;
}

}  // namespace

int main() {
  std::printf("%-62s %12s %12s %7s %7s\n", "", "a step", "its products", "ratio", "bar");
  benchmark<Config{.vocab_size = 11, .d_model = 128, .d_ff = 256, .n_layers = 2, .n_heads = 2, .max_len = 7}>(
      "Example 0: d_model 128, d_ff 256, 2 blocks, 2 heads, 4×6 tokens", random_batch(4, 6, 11), 1.5, 50, 40);
  benchmark<Config{.vocab_size = 256, .d_model = 512, .d_ff = 2048, .n_layers = 6, .n_heads = 8, .max_len = 129}>(
      "d_model 512, d_ff 2048, 6 blocks, 8 heads, 4×128 tokens", random_batch(4, 128, 256), 1.35, 9, 1);
}
