// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

/// What a step of training cannot avoid.
namespace products {

/// What is computed of attention: all of it; of causal attention its squares, of which the visible half counts; or
/// rectangles of half their width, with no more entries than are visible.
enum class Attention { whole, causal_squares, visible };

/// Matrix products of fixed shapes, by one call of the BLAS each.
class Products {
 public:
  Products() = default;
  Products(Products&&) = default;  // a copy would refer to the same entries

  /// X×W of `rows` rows, where W is inner × cols.
  void add_value(std::size_t rows, std::size_t inner, std::size_t cols) {
    add(matrix(rows, inner), matrix(inner, cols), matrix(rows, cols));
  }

  /// The layer X ↦ X×W, and its pullback.
  void add_layer(std::size_t rows, std::size_t inner, std::size_t cols) {
    const Matrix X = matrix(rows, inner), W = matrix(inner, cols), Y = matrix(rows, cols);
    add(X, W, Y);                                 // Y = X×W
    add(X.transposed(), Y, matrix(inner, cols));  // W̄ += Xᵀ×Ȳ
    add(Y, W.transposed(), matrix(rows, inner));  // X̄ = Ȳ×Wᵀ
  }

  /// Attention in sequences of one length, with its four layers and its pullback.
  void add_attention(std::size_t count, std::size_t length, std::size_t d_model, std::size_t n_heads, Attention kind) {
    for (int projection = 0; projection < 4; ++projection) add_layer(count * length, d_model, d_model);
    const std::size_t d_head = d_model / n_heads, keys = kind == Attention::visible ? length / 2 : length;
    const double before = operations_;
    for (std::size_t head = 0; head < count * n_heads; ++head) {
      const Matrix Q = matrix(length, d_head), K = matrix(keys, d_head), V = matrix(keys, d_head);
      const Matrix A = matrix(length, keys), A_bar = matrix(length, keys), Y = matrix(length, d_head);
      add(Q, K.transposed(), A);                         // S = Q×Kᵀ
      add(A, V, Y);                                      // Y = A×V
      add(Y, V.transposed(), A_bar);                     // Ā = Ȳ×Vᵀ
      add(A.transposed(), Y, matrix(keys, d_head));      // V̄ = Aᵀ×Ȳ
      add(A_bar, K, matrix(length, d_head));             // Q̄ = S̄×K
      add(A_bar.transposed(), Q, matrix(keys, d_head));  // K̄ = S̄ᵀ×Q
    }
    if (kind == Attention::causal_squares)
      operations_ = before + (operations_ - before) * double(length + 1) / double(2 * length);
  }

  /// Does all of them once. Each is added to what is there, which nobody reads.
  void run() const {
    for (const Product& p : products_) tlm::detail::multiply(p.left, p.right, p.result);
  }

  /// How many multiplications and additions they are.
  double operations() const { return operations_; }

 private:
  using Matrix = tlm::detail::View<float>;
  struct Product {
    Matrix left, right, result;
  };

  Matrix matrix(std::size_t rows, std::size_t cols) {
    return {entries_.emplace_back(rows * cols, 0.5f).data(), rows, cols, cols};
  }

  void add(Matrix left, Matrix right, Matrix result) {
    products_.push_back({left, right, result});
    operations_ += 2 * double(left.rows) * double(left.cols) * double(right.cols);
  }

  std::vector<Product> products_;
  std::vector<std::vector<float, tlm::detail::AlignedAllocator<float>>> entries_;  // to which the products refer
  double operations_ = 0;
};

/// The products of T_LM, for this many sequences of one length.
inline Products of(const tlm::Config& c, std::size_t count, std::size_t length,
                   Attention attention = Attention::causal_squares) {
  Products products;
  for (std::size_t layer = 0; layer < c.n_layers; ++layer) {
    products.add_attention(count, length, c.d_model, c.n_heads, attention);
    products.add_layer(count * length, c.d_model, c.d_ff);
    products.add_layer(count * length, c.d_ff, c.d_model);
  }
  products.add_layer(count * length, c.d_model, c.vocab_size);
  return products;
}

/// The products of the Wolfram article's model, for this many pairs of sequences of one length.
inline Products of(const tlm::wolfram::Config& c, std::size_t count, std::size_t length) {
  Products products;
  for (std::size_t block = 0; block < c.blocks; ++block) {
    // Of the source, of the target, and of the target to the source.
    for (const Attention kind : {Attention::whole, Attention::causal_squares, Attention::whole})
      products.add_attention(count, length, c.d, c.heads, kind);
    for (int network = 0; network < 2; ++network) {
      products.add_layer(count * length, c.d, 4 * c.d);
      products.add_layer(count * length, 4 * c.d, c.d);
    }
  }
  products.add_layer(count * length, c.d, c.tgt_vocab_size);
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

/// Each on a thread of its own, so often.
inline void run(const std::vector<Products>& parts, std::size_t times) {
  tlm::parallel_for(parts.size(), [&](std::size_t k) {
    for (std::size_t time = 0; time < times; ++time) parts[k].run();
  });
}

}  // namespace products
