// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "../reference.hpp"

/// The forward passes of the two encoder–decoders as plain loops over doubles, in the order of their sources.
namespace reference {

/// γ·(x − μ)/√(σ² + ε) + β for each row x.
inline Table layer_norm(const Weights& w, const std::string& path, const Table& X, double epsilon = 1e-5) {
  return standardized(w.at(path + "γ"), w.at(path + "β"), X,
                      [&](double variance) { return std::sqrt(variance + epsilon); });
}

/// max(0, X×W_1 + b_1)×W_2 + b_2.
inline Table network(const Weights& w, const std::string& path, const Table& X) {
  const Table hidden = relu(sum(product(X, w.at(path + "W_1")), w.at(path + "b_1")));
  return sum(product(hidden, w.at(path + "W_2")), w.at(path + "b_2"));
}

/// The weights of an attention by their letters, in the order of Q, K, V and the last matrix.
using Letters = const char* [4];

/// Concat(head_1, …, head_h)×W_O with Q = X W_Q, K = Z W_K and V = Z W_V, where the letters may be others.
inline Table multi_head(const Weights& w, const std::string& path, const Letters& letters, std::size_t h,
                        const Table& X, const Table& Z, bool mask) {
  const auto times = [&](const Table& A, std::size_t which) { return product(A, w.at(path + letters[which])); };
  return times(heads(times(X, 0), times(Z, 1), times(Z, 2), h, mask), 3);
}

/// The Formulated Transformer's scores Y_N×W_eᵀ ("Forward pass").
inline Table formulated_scores(const Weights& w, std::size_t N, std::size_t h, const std::vector<int>& x,
                               const std::vector<int>& y) {
  const Table& W_e = w.at("W_e");
  const auto embedded = [&](const std::vector<int>& tokens) {
    return sum(embedding(W_e, tokens), sinusoidal(tokens.size(), W_e.cols, 1));
  };
  const auto attention = [&](const std::string& path, const Table& X, const Table& Z, bool mask) {
    return multi_head(w, path, {"W_Q", "W_K", "W_V", "W_O"}, h, X, Z, mask);
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
  return product(Y, transposed(W_e));
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
    return affine(path, "_O", heads(affine(path, "_q", X), affine(path, "_k", Z), affine(path, "_v", Z), h, mask));
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
    return multi_head(w, path, {"Q", "K", "V", "W"}, h, X, Z, mask);
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
