// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

/// What a step of training cannot avoid.
namespace products {

/// Matrix products of fixed shapes: C = A×B, C = A×Bᵀ and C += Aᵀ×B, as in a layer X ↦ X×W and its pullback.
class Products {
 public:
  /// Times W (inner × cols) of `rows` rows, and its pullback.
  void add_layer(std::size_t rows, std::size_t inner, std::size_t cols) {
    using tlm::detail::Previous;
    add(rows, inner, cols, false, false, Previous::overwritten);  // Y = X×W
    add(inner, rows, cols, true, false, Previous::added_to);      // W̄ += Xᵀ×Ȳ
    add(rows, cols, inner, false, true, Previous::overwritten);   // X̄ = Ȳ×Wᵀ
    operations_ += 6 * double(rows) * double(inner) * double(cols);
  }

  /// Times W (inner × cols) of `rows` rows alone.
  void add_value(std::size_t rows, std::size_t inner, std::size_t cols) {
    add(rows, inner, cols, false, false, tlm::detail::Previous::overwritten);
    operations_ += 2 * double(rows) * double(inner) * double(cols);
  }

  /// One head of attention with this many queries and keys, and its pullback, as full rectangles. If it is causal, only
  /// the visible half counts as operations.
  void add_head(std::size_t queries, std::size_t keys, std::size_t d_head, bool causal) {
    using tlm::detail::Previous;
    add(queries, d_head, keys, false, true, Previous::overwritten);   // S = Q×Kᵀ
    add(queries, keys, d_head, false, false, Previous::overwritten);  // Y = A×V
    add(queries, d_head, keys, false, true, Previous::overwritten);   // Ā = Ȳ×Vᵀ
    add(keys, queries, d_head, true, false, Previous::overwritten);   // V̄ = Aᵀ×Ȳ
    add(queries, keys, d_head, false, false, Previous::overwritten);  // dQ = dS×K
    add(keys, queries, d_head, true, false, Previous::overwritten);   // dK = dSᵀ×Q
    operations_ += 12 * double(d_head) * (causal ? double(queries) * double(queries + 1) / 2 : double(queries * keys));
  }

  /// Does all of them once.
  void run() {
    const auto stored = [](Entries& entries, std::size_t rows, std::size_t cols) {
      return tlm::detail::View<float>{entries.data(), rows, cols, cols};
    };
    for (Product& p : products_) {
      const auto A = p.left_transposed ? stored(p.left, p.inner, p.rows).transposed() : stored(p.left, p.rows, p.inner);
      const auto B =
          p.right_transposed ? stored(p.right, p.cols, p.inner).transposed() : stored(p.right, p.inner, p.cols);
      tlm::detail::multiply(A, B, stored(p.result, p.rows, p.cols), p.previous);
    }
  }

  /// How many multiplications and additions they are.
  double operations() const { return operations_; }

 private:
  using Entries = std::vector<float, tlm::detail::AlignedAllocator<float>>;
  struct Product {
    std::size_t rows, inner, cols;
    bool left_transposed, right_transposed;
    tlm::detail::Previous previous;
    Entries left, right, result;
  };

  void add(std::size_t rows, std::size_t inner, std::size_t cols, bool left_transposed, bool right_transposed,
           tlm::detail::Previous previous) {
    products_.push_back({rows, inner, cols, left_transposed, right_transposed, previous, Entries(rows * inner, 0.5f),
                         Entries(inner * cols, 0.5f), Entries(rows * cols, 0.0f)});
  }

  std::vector<Product> products_;
  double operations_ = 0;
};

/// The computed part of causal attention: its squares, or rectangles of half their width, with no more entries than are
/// visible.
enum class Attention { squares, visible };

/// The products of T_LM, for this many sequences of one length.
inline Products of(const tlm::Config& c, std::size_t count, std::size_t length,
                   Attention attention = Attention::squares) {
  Products products;
  const std::size_t rows = count * length;
  for (std::size_t layer = 0; layer < c.n_layers; ++layer) {
    for (int projection = 0; projection < 4; ++projection) products.add_layer(rows, c.d_model, c.d_model);
    for (std::size_t head = 0; head < count * c.n_heads; ++head)
      if (attention == Attention::squares)
        products.add_head(length, length, c.d_model / c.n_heads, true);
      else
        products.add_head(length, length / 2, c.d_model / c.n_heads, false);
    products.add_layer(rows, c.d_model, c.d_ff);
    products.add_layer(rows, c.d_ff, c.d_model);
  }
  products.add_layer(rows, c.d_model, c.vocab_size);
  return products;
}

/// The products with the weights of T_LM that generate one token of this many texts. Those with what it remembers of
/// each text are not included.
inline Products of_a_token(const tlm::Config& c, std::size_t texts) {
  Products products;
  for (std::size_t layer = 0; layer < c.n_layers; ++layer) {
    for (int projection = 0; projection < 4; ++projection) products.add_value(texts, c.d_model, c.d_model);
    products.add_value(texts, c.d_model, c.d_ff);
    products.add_value(texts, c.d_ff, c.d_model);
  }
  products.add_value(texts, c.d_model, c.vocab_size);
  return products;
}

/// The products of the Wolfram article's model, for this many pairs of sequences of one length.
inline Products of(const tlm::wolfram::Config& c, std::size_t count, std::size_t length) {
  Products products;
  const std::size_t rows = count * length;
  const auto add_attention = [&](bool causal) {
    for (int projection = 0; projection < 4; ++projection) products.add_layer(rows, c.d, c.d);
    for (std::size_t head = 0; head < count * c.heads; ++head) products.add_head(length, length, c.d / c.heads, causal);
  };
  for (std::size_t block = 0; block < c.blocks; ++block) {
    add_attention(false);  // of the source
    add_attention(true);   // of the target
    add_attention(false);  // of the target to the source
    for (int network = 0; network < 2; ++network) {
      products.add_layer(rows, c.d, 4 * c.d);
      products.add_layer(rows, 4 * c.d, c.d);
    }
  }
  products.add_layer(rows, c.d, c.tgt_vocab_size);
  return products;
}

/// Each on a thread of its own, so often.
inline void run(tlm::ThreadPool& threads, std::vector<Products>& parts, std::size_t times) {
  threads.parallel_for(parts.size(), [&](std::size_t k) {
    for (std::size_t time = 0; time < times; ++time) parts[k].run();
  });
}

}  // namespace products
