// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "../reference.hpp"

/// The forward passes of the two encoder–decoders as plain loops over doubles, in the order of their sources.
namespace reference {

/// γ·(x − μ)/√(σ² + ε) + β for each row x.
inline Table layer_norm(const Weights& w, const std::string& path, const Table& X, double epsilon = 1e-5) {
  Table Y(X.rows, X.cols);
  const double d = double(X.cols);
  for (std::size_t i = 1; i <= X.rows; ++i) {
    double mean = 0, variance = 0;
    for (std::size_t j = 1; j <= X.cols; ++j) mean += X(i, j) / d;
    for (std::size_t j = 1; j <= X.cols; ++j) variance += (X(i, j) - mean) * (X(i, j) - mean) / d;
    for (std::size_t j = 1; j <= X.cols; ++j)
      Y(i, j) = w.at(path + "γ")(1, j) * (X(i, j) - mean) / std::sqrt(variance + epsilon) + w.at(path + "β")(1, j);
  }
  return Y;
}

/// max(0, X×W_1 + b_1)×W_2 + b_2.
inline Table network(const Weights& w, const std::string& path, const Table& X) {
  const Table hidden = relu(sum(product(X, w.at(path + "W_1")), w.at(path + "b_1")));
  return sum(product(hidden, w.at(path + "W_2")), w.at(path + "b_2"));
}

/// Concat(head_1, …, head_h), head_i = softmax(mask(Q_i K_iᵀ)/√d_k) V_i, of the blocks of columns of Q, K and V.
inline Table heads_of(const Table& Q, const Table& K, const Table& V, std::size_t h, bool mask) {
  const std::size_t d_k = Q.cols / h, d_v = V.cols / h;
  Table all(Q.rows, h * d_v);
  for (std::size_t head = 0; head < h; ++head) {
    const Table Q_i = columns(Q, head * d_k + 1, d_k), K_i = columns(K, head * d_k + 1, d_k);
    Table scores(Q.rows, K.rows);
    for (std::size_t i = 1; i <= Q.rows; ++i)
      for (std::size_t j = 1; j <= K.rows; ++j)
        for (std::size_t k = 1; k <= d_k; ++k) scores(i, j) += Q_i(i, k) * K_i(j, k) / std::sqrt(double(d_k));
    const Table one = product(softmax(mask ? masked(scores) : scores), columns(V, head * d_v + 1, d_v));
    for (std::size_t i = 1; i <= Q.rows; ++i)
      for (std::size_t j = 1; j <= d_v; ++j) all(i, head * d_v + j) = one(i, j);
  }
  return all;
}

/// The same with Q = X W_Q, K = Z W_K and V = Z W_V.
inline Table multi_head(const Table& W_Q, const Table& W_K, const Table& W_V, std::size_t h, const Table& X,
                        const Table& Z, bool mask) {
  return heads_of(product(X, W_Q), product(Z, W_K), product(Z, W_V), h, mask);
}

/// The Formulated Transformer's scores Y_N×W_eᵀ ("Forward pass").
inline Table formulated_scores(const Weights& w, std::size_t N, std::size_t h, const std::vector<int>& x,
                               const std::vector<int>& y) {
  const Table& W_e = w.at("W_e");
  const auto embedded = [&](const std::vector<int>& tokens) {
    Table X = embedding(W_e, tokens);
    const double d = double(X.cols);
    for (std::size_t pos = 1; pos <= X.rows; ++pos)
      for (std::size_t i = 1; 2 * i <= X.cols; ++i) {
        X(pos, 2 * i - 1) += std::sin(double(pos) / std::pow(10000.0, 2 * double(i) / d));
        X(pos, 2 * i) += std::cos(double(pos) / std::pow(10000.0, 2 * double(i) / d));
      }
    return X;
  };
  const auto attention = [&](const std::string& path, const Table& X, const Table& Z, bool mask) {
    return product(multi_head(w.at(path + "W_Q"), w.at(path + "W_K"), w.at(path + "W_V"), h, X, Z, mask),
                   w.at(path + "W_O"));
  };
  Table X = embedded(x);
  for (std::size_t l = 1; l <= N; ++l) {
    const std::string path = "Encoder_" + std::to_string(l) + ".";
    X = layer_norm(w, path + "LayerNorm'.", sum(X, attention(path + "MultiHead.", X, X, false)));
    X = layer_norm(w, path + "LayerNorm.", sum(X, network(w, path + "FFN.", X)));
  }
  Table Y = embedded(y);
  for (std::size_t l = 1; l <= N; ++l) {
    const std::string path = "Decoder_" + std::to_string(l) + ".";
    Y = layer_norm(w, path + "LayerNorm'.", sum(Y, attention(path + "MaskedMultiHead.", Y, Y, true)));
    Y = layer_norm(w, path + "LayerNorm''.", sum(Y, attention(path + "MultiHead.", Y, X, false)));
    Y = layer_norm(w, path + "LayerNorm.", sum(Y, network(w, path + "FFN.", Y)));
  }
  Table scores(Y.rows, W_e.rows);
  for (std::size_t i = 1; i <= Y.rows; ++i)
    for (std::size_t j = 1; j <= W_e.rows; ++j)
      for (std::size_t k = 1; k <= Y.cols; ++k) scores(i, j) += Y(i, k) * W_e(j, k);
  return scores;
}

/// The Wolfram article's scores, without dropout, by its programs; with learned positions or with sines, then cosines.
inline Table wolfram_scores(const Weights& w, std::size_t blocks, std::size_t h, bool learned,
                            const std::vector<int>& src, const std::vector<int>& tgt) {
  const auto affine = [&](const std::string& path, const char* number, const Table& X) {
    return sum(product(X, w.at(path + "W" + number)), w.at(path + "b" + number));
  };
  const auto norm = [&](const std::string& path, const Table& X) { return layer_norm(w, path, X, 1e-4); };
  const auto embedded = [&](const std::string& path, const std::vector<int>& tokens) {
    Table X = embedding(w.at(path + "Em.W_e"), tokens);
    const std::size_t d = X.cols;
    for (std::size_t t = 1; t <= X.rows; ++t)
      for (std::size_t j = 1; j <= d; ++j) {
        const std::size_t i = j <= d / 2 ? j : j - d / 2;
        const double angle = double(t) / std::pow(10000.0, 2 * double(i) / double(d));
        X(t, j) += learned ? w.at(path + "PE.PE")(t, j) : j <= d / 2 ? std::sin(angle) : std::cos(angle);
      }
    return X;
  };
  const auto attention = [&](const std::string& path, const Table& X, const Table& Z, bool mask) {
    return affine(path, "_O", heads_of(affine(path, "_q", X), affine(path, "_k", Z), affine(path, "_v", Z), h, mask));
  };
  const auto feed_forward_block = [&](const std::string& path, const Table& X) {
    Table hidden = affine(path + "FF.", "_1", norm(path + "N_FF.", X));
    for (double& x : hidden.entries) x *= (1 + std::erf(x / std::sqrt(2))) / 2;
    return sum(X, affine(path + "FF.", "_2", hidden));
  };
  const auto self_attention_block = [&](const std::string& path, const Table& X, bool mask) {
    const Table seq = norm(path + "N_self.", X);
    return sum(X, attention(path + "self.", seq, seq, mask));
  };
  Table M = embedded("src.", src);
  for (std::size_t l = 1; l <= blocks; ++l) {
    const std::string path = "src.enc_" + std::to_string(l) + ".";
    M = feed_forward_block(path, self_attention_block(path, M, false));
  }
  Table Y = embedded("tgt.", tgt);
  for (std::size_t l = 1; l <= blocks; ++l) {
    const std::string path = "tgt.dec_" + std::to_string(l) + ".";
    Y = self_attention_block(path, Y, true);
    Y = sum(Y, attention(path + "cross.", Y, norm(path + "N_cross.", M), false));
    Y = feed_forward_block(path, Y);
  }
  return affine("tgt.", "", Y);
}

/// The NumPy notebook's scores, as its text describes the model.
inline Table numpy_scores(const Weights& w, std::size_t n_enc, std::size_t n_dec, std::size_t h,
                          const std::vector<int>& src, const std::vector<int>& tgt) {
  const auto attention = [&](const std::string& path, const Table& X, const Table& Z, bool mask) {
    return product(multi_head(w.at(path + "Q"), w.at(path + "K"), w.at(path + "V"), h, X, Z, mask), w.at(path + "W"));
  };
  Table X = positional_encoding(w.at("src.PE.PE"), embedding(w.at("src.Em.W_e"), src));
  for (std::size_t l = 1; l <= n_enc; ++l) {
    const std::string path = "src.enc_" + std::to_string(l) + ".";
    X = layer_norm(w, path + "norm_self.", sum(X, attention(path + "self.", X, X, false)));
    X = layer_norm(w, path + "norm_ff.", sum(X, network(w, path + "FFN.", X)));
  }
  Table Y = positional_encoding(w.at("tgt.PE.PE"), embedding(w.at("tgt.Em.W_e"), tgt));
  for (std::size_t l = 1; l <= n_dec; ++l) {
    const std::string path = "tgt.dec_" + std::to_string(l) + ".";
    Y = layer_norm(w, path + "norm_self.", sum(Y, attention(path + "self.", Y, Y, true)));
    Y = layer_norm(w, path + "norm_cross.", sum(Y, attention(path + "cross.", Y, X, false)));
    Y = layer_norm(w, path + "norm_ff.", sum(Y, network(w, path + "FFN.", Y)));
  }
  return sum(product(Y, w.at("tgt.W")), w.at("tgt.b"));
}

}  // namespace reference
