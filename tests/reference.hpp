// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// The article's formulas once more, as plain loops over doubles, with the article's indices.
///
/// They are slow and straightforward, and on purpose without a line of the library: both results are compared. Here
/// masked scores really are −∞, every head has its own matrices, and nothing is subtracted before exp.
namespace reference {

/// A matrix: A(i, j) is the entry in row i and column j, both counted from 1.
struct Table {
  std::size_t rows, cols;
  std::vector<double> entries;

  Table(std::size_t n_rows, std::size_t n_cols) : rows{n_rows}, cols{n_cols}, entries(n_rows * n_cols) {}

  double& operator()(std::size_t i, std::size_t j) { return entries.at((i - 1) * cols + j - 1); }
  double operator()(std::size_t i, std::size_t j) const { return entries.at((i - 1) * cols + j - 1); }
};

/// The weights of a layer by their paths, such as "DB_1.FF.A".
using Weights = std::map<std::string, Table>;

/// The matrix of these entries.
inline Table table_of(std::size_t rows, std::size_t cols, const auto& entry) {
  Table A(rows, cols);
  for (std::size_t i = 1; i <= rows; ++i)
    for (std::size_t j = 1; j <= cols; ++j) A(i, j) = entry(i, j);
  return A;
}

/// A×B.
inline Table product(const Table& A, const Table& B) {
  return table_of(A.rows, B.cols, [&](std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t k = 1; k <= A.cols; ++k) sum += A(i, k) * B(k, j);
    return sum;
  });
}

/// Aᵀ.
inline Table transposed(const Table& A) {
  return table_of(A.cols, A.rows, [&](std::size_t i, std::size_t j) { return A(j, i); });
}

/// A+B, where a B of one row stands for as many identical ones.
inline Table sum(const Table& A, const Table& B) {
  return table_of(A.rows, A.cols, [&](std::size_t i, std::size_t j) { return A(i, j) + B(B.rows == 1 ? 1 : i, j); });
}

/// A|i: the first i rows.
inline Table reduced(const Table& A, std::size_t i) {
  return table_of(i, A.cols, [&](std::size_t k, std::size_t j) { return A(k, j); });
}

/// `width` columns, the first of which is number `left`.
inline Table columns(const Table& A, std::size_t left, std::size_t width) {
  return table_of(A.rows, width, [&](std::size_t i, std::size_t j) { return A(i, left + j - 1); });
}

/// The layer "simply assigns a row to each token".
inline Table embedding(const Table& W_e, const std::vector<int>& x) {
  return table_of(x.size(), W_e.cols, [&](std::size_t i, std::size_t j) { return W_e(std::size_t(x[i - 1]) + 1, j); });
}

/// X + PE|n.
inline Table positional_encoding(const Table& PE, const Table& X) { return sum(X, reduced(PE, X.rows)); }

/// PE(pos, 2i) = sin(pos/10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same), where these columns count from 0. The first
/// i is 0, as in the article, or another.
inline Table sinusoidal(std::size_t max_len, std::size_t d_model, std::size_t first_i = 0) {
  return table_of(max_len, d_model, [&](std::size_t pos, std::size_t j) {
    const std::size_t i = first_i + (j - 1) / 2;
    const double angle = double(pos) / std::pow(10000.0, double(2 * i) / double(d_model));
    return j % 2 == 1 ? std::sin(angle) : std::cos(angle);
  });
}

/// a·(x − mean(x))/divisor(σ²) + b for each row x, where σ² is its variance.
inline Table standardized(const Table& a, const Table& b, const Table& X, const auto& divisor) {
  Table Y(X.rows, X.cols);
  const double d = double(X.cols);
  for (std::size_t i = 1; i <= X.rows; ++i) {
    double mean = 0, variance = 0;
    for (std::size_t j = 1; j <= X.cols; ++j) mean += X(i, j) / d;
    for (std::size_t j = 1; j <= X.cols; ++j) variance += (X(i, j) - mean) * (X(i, j) - mean) / d;
    for (std::size_t j = 1; j <= X.cols; ++j) Y(i, j) = a(1, j) * (X(i, j) - mean) / divisor(variance) + b(1, j);
  }
  return Y;
}

/// a·(x − mean(x))/(σ(x) + ε) + b for each row x, with ε = 10⁻⁶.
inline Table normalization(const Table& a, const Table& b, const Table& X) {
  return standardized(a, b, X, [](double variance) { return std::sqrt(variance) + 1e-6; });
}

/// max(0, X).
inline Table relu(Table X) {
  for (double& x : X.entries) x = x > 0 ? x : 0;
  return X;
}

/// ◺A: −∞ above the main diagonal.
inline Table masked(const Table& A) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return table_of(A.rows, A.cols, [&](std::size_t i, std::size_t j) { return j > i ? -infinity : A(i, j); });
}

/// exp(a_ij) / Σ_k exp(a_ik).
inline Table softmax(Table A) {
  for (std::size_t i = 1; i <= A.rows; ++i) {
    double total = 0;
    for (std::size_t j = 1; j <= A.cols; ++j) total += std::exp(A(i, j));
    for (std::size_t j = 1; j <= A.cols; ++j) A(i, j) = std::exp(A(i, j)) / total;
  }
  return A;
}

/// Q×Kᵀ/√d, where Q and K have d columns.
inline Table scores(const Table& Q, const Table& K) {
  Table S = product(Q, transposed(K));
  for (double& s : S.entries) s /= std::sqrt(double(Q.cols));
  return S;
}

/// Concat(head_1, …, head_h), head_i = softmax(mask(Q_i×K_iᵀ/√d_k))×V_i, of the i-th blocks of columns of Q, K and V.
inline Table heads(const Table& Q, const Table& K, const Table& V, std::size_t h, bool mask) {
  const std::size_t d_k = Q.cols / h, d_v = V.cols / h;
  std::vector<Table> heads;
  for (std::size_t head = 0; head < h; ++head) {
    const Table S = scores(columns(Q, head * d_k + 1, d_k), columns(K, head * d_k + 1, d_k));
    heads.push_back(product(softmax(mask ? masked(S) : S), columns(V, head * d_v + 1, d_v)));
  }
  return table_of(Q.rows, h * d_v,
                  [&](std::size_t i, std::size_t j) { return heads[(j - 1) / d_v](i, (j - 1) % d_v + 1); });
}

/// Concat(H_1(X), …, H_h(X)) with Q = X×W_Q, K = X×W_K, V = X×W_V.
inline Table causal_heads(const Weights& w, const std::string& path, std::size_t h, const Table& X) {
  return heads(product(X, w.at(path + "W_Q")), product(X, w.at(path + "W_K")), product(X, w.at(path + "W_V")), h, true);
}

/// H(X)×W_O + B.
inline Table causal_attention(const Weights& w, const std::string& path, std::size_t h, const Table& X) {
  return sum(product(causal_heads(w, path, h, X), w.at(path + "W_O")), w.at(path + "B"));
}

/// ReLU(N_ff(X)×A + K)×B + L.
inline Table feed_forward(const Weights& w, const std::string& path, const Table& X) {
  const Table N_ff = normalization(w.at(path + "N_ff.a"), w.at(path + "N_ff.b"), X);
  const Table hidden = relu(sum(product(N_ff, w.at(path + "A")), w.at(path + "K")));
  return sum(product(hidden, w.at(path + "B")), w.at(path + "L"));
}

/// Which formula of a decoder block.
enum class Block { definition, inspirational };

/// X + CA(N_ca(X)) + FF(X + CA(N_ca(X))), or X + FF(X + CA(N_ca(X))).
inline Table decoder_block(const Weights& w, const std::string& path, std::size_t h, Block block, const Table& X) {
  const Table N_ca = normalization(w.at(path + "N_ca.a"), w.at(path + "N_ca.b"), X);
  const Table CA = causal_attention(w, path + "CA.", h, N_ca);
  const Table FF = feed_forward(w, path + "FF.", sum(X, CA));
  return block == Block::definition ? sum(sum(X, CA), FF) : sum(X, FF);
}

/// X×Y + B.
inline Table final_layer(const Weights& w, const std::string& path, const Table& X) {
  return sum(product(X, w.at(path + "Y")), w.at(path + "B"));
}

/// Φ(N(DB_n(…DB_1(PE(Em(x)))…))).
inline Table transformer_lm(const Weights& w, std::size_t n_layers, std::size_t h, Block block,
                            const std::vector<int>& x) {
  Table X = positional_encoding(w.at("PE.PE"), embedding(w.at("Em.W_e"), x));
  for (std::size_t i = 1; i <= n_layers; ++i) X = decoder_block(w, "DB_" + std::to_string(i) + ".", h, block, X);
  return final_layer(w, "Φ.", normalization(w.at("N.a"), w.at("N.b"), X));
}

// --- The encoder–decoders, in the order of their sources ----------------------------------------------------------------

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
    const Table X = embedding(w.at(path + "Em.W_e"), tokens);
    if (learned) return positional_encoding(w.at(path + "PE.PE"), X);
    const std::size_t d = X.cols;
    return sum(X, table_of(X.rows, d, [&](std::size_t t, std::size_t j) {
                 const std::size_t i = j <= d / 2 ? j : j - d / 2;
                 const double angle = double(t) / std::pow(10000.0, 2 * double(i) / double(d));
                 return j <= d / 2 ? std::sin(angle) : std::cos(angle);
               }));
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
