// SPDX-License-Identifier: MIT
// The book's example: three tokens on their way through a model with d_model = 4. Every number is computed here from
// the article's formulas, with nothing but rows of numbers. Then the library computes the same, and the two must agree.
// Prints the matrices as JSON, for the book's pages.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tlm/tlm.hpp>

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<double>>;

constexpr std::size_t h = 2, d_head = 2;
using Model = tlm::TransformerLM<
    tlm::Config{.vocab_size = 5, .d_model = h* d_head, .d_ff = 6, .n_layers = 1, .n_heads = h, .max_len = 4}, double>;

Rows rows_of(const auto& matrix) {
  Rows copy(matrix.rows(), std::vector<double>(matrix.cols));
  for (std::size_t i = 0; i < copy.size(); ++i)
    for (std::size_t j = 0; j < copy[i].size(); ++j) copy[i][j] = matrix(i, j);
  return copy;
}

/// X×W.
Rows times(const Rows& X, const Rows& W) {
  Rows Y(X.size(), std::vector<double>(W[0].size()));
  for (std::size_t i = 0; i < X.size(); ++i)
    for (std::size_t j = 0; j < W[0].size(); ++j)
      for (std::size_t k = 0; k < W.size(); ++k) Y[i][j] += X[i][k] * W[k][j];
  return Y;
}

/// X + Y; if Y has one row, it is added to each.
Rows plus(Rows X, const Rows& Y) {
  for (std::size_t i = 0; i < X.size(); ++i)
    for (std::size_t j = 0; j < X[i].size(); ++j) X[i][j] += Y[Y.size() == 1 ? 0 : i][j];
  return X;
}

/// Columns first, …, first + d_head − 1: those of one head.
Rows columns(const Rows& X, std::size_t first) {
  Rows Y;
  for (const auto& x : X) Y.emplace_back(x.begin() + std::ptrdiff_t(first), x.begin() + std::ptrdiff_t(first + d_head));
  return Y;
}

/// N(X).
Rows normalized(Rows X, const Rows& a, const Rows& b) {
  for (auto& x : X) {
    double mean = 0, variance = 0;
    for (const double number : x) mean += number / double(x.size());
    for (const double number : x) variance += (number - mean) * (number - mean) / double(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = a[0][j] * (x[j] - mean) / (std::sqrt(variance) + 1e-6) + b[0][j];
  }
  return X;
}

/// ◺(Q×Kᵀ/√d_head): row i has i entries.
Rows scores(const Rows& Q, const Rows& K) {
  Rows S(Q.size());
  for (std::size_t i = 0; i < Q.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < d_head; ++k) product += Q[i][k] * K[j][k];
      S[i].push_back(product / std::sqrt(double(d_head)));
    }
  return S;
}

/// Each row becomes a probability vector.
Rows softmax(Rows S) {
  for (auto& s : S) {
    double sum = 0;
    for (double& number : s) sum += number = std::exp(number);
    for (double& number : s) number /= sum;
  }
  return S;
}

/// A×V, where row i of A has i entries.
Rows mixed(const Rows& A, const Rows& V) {
  Rows Y(A.size(), std::vector<double>(d_head));
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < A[i].size(); ++j)
      for (std::size_t k = 0; k < d_head; ++k) Y[i][k] += A[i][j] * V[j][k];
  return Y;
}

/// The largest difference of two numbers in the same place. NaN differs by 1.
double distance(const Rows& A, const Rows& B) {
  double most = A.size() == B.size() ? 0 : 1;
  for (std::size_t i = 0; i < A.size() && i < B.size(); ++i)
    for (std::size_t j = 0; j < A[i].size(); ++j) {
      const double here = std::abs(A[i][j] - B[i][j]);
      most = std::max(most, here >= 0 ? here : 1);
    }
  return most;
}

}  // namespace

int main() {
  using tlm::weight;
  const std::vector<tlm::Token> read{0, 3, 1}, follow{3, 1, 0};
  Model model;
  tlm::Generator generator{1};
  tlm::initialize_glorot(model, generator);
  // Weights of one decimal place, so that you can compute along.
  for (const auto& parameter : tlm::parameters(model))
    for (auto& w : parameter) w = std::round(w * 10) / 10;

  Json steps;
  const auto keep = [&](const std::string& name, const Rows& rows) -> const Rows& { return steps[name] = rows, rows; };
  const auto given = [&]<tlm::Symbol path>(const std::string& name) {
    return keep(name, rows_of(weight<path>(std::as_const(model))));
  };

  const Rows W_e = given.operator()<"Em.W_e">("W_e"), table = given.operator()<"PE.PE">("PE");
  Rows X;
  for (const tlm::Token token : read) X.push_back(W_e[std::size_t(token)]);
  keep("Em", X);
  X = keep("X", plus(X, {table.begin(), table.begin() + std::ptrdiff_t(X.size())}));

  const Rows N_ca =
      keep("N_ca", normalized(X, given.operator()<"DB_1.N_ca.a">("a"), given.operator()<"DB_1.N_ca.b">("b")));
  const Rows Q = keep("Q", times(N_ca, given.operator()<"DB_1.CA.W_Q">("W_Q")));
  const Rows K = keep("K", times(N_ca, given.operator()<"DB_1.CA.W_K">("W_K")));
  const Rows V = keep("V", times(N_ca, given.operator()<"DB_1.CA.W_V">("W_V")));
  Rows H(X.size());
  for (std::size_t head = 0; head < h; ++head) {
    const std::string number = std::to_string(head + 1);
    const Rows S = keep("S_" + number, scores(columns(Q, head * d_head), columns(K, head * d_head)));
    const Rows A = keep("A_" + number, softmax(S));
    const Rows H_i = keep("H_" + number, mixed(A, columns(V, head * d_head)));
    for (std::size_t i = 0; i < X.size(); ++i) H[i].insert(H[i].end(), H_i[i].begin(), H_i[i].end());
  }
  const Rows CA =
      keep("CA", plus(times(keep("H", H), given.operator()<"DB_1.CA.W_O">("W_O")), given.operator()<"DB_1.CA.B">("B")));
  X = keep("Res_CA", plus(X, CA));

  const Rows N_ff =
      keep("N_ff", normalized(X, rows_of(weight<"DB_1.FF.N_ff.a">(model)), rows_of(weight<"DB_1.FF.N_ff.b">(model))));
  Rows hidden = plus(times(N_ff, given.operator()<"DB_1.FF.A">("A")), given.operator()<"DB_1.FF.K">("K_ff"));
  keep("before_ReLU", hidden);
  for (auto& row : hidden)
    for (double& number : row) number = number > 0 ? number : 0;
  const Rows FF = keep("FF", plus(times(keep("ReLU", hidden), given.operator()<"DB_1.FF.B">("B_ff")),
                                  given.operator()<"DB_1.FF.L">("L")));
  X = keep("DB", plus(X, FF));

  const Rows N = keep("N", normalized(X, rows_of(weight<"N.a">(model)), rows_of(weight<"N.b">(model))));
  const Rows Z = keep("T_LM", plus(times(N, given.operator()<"Φ.Y">("Y")), given.operator()<"Φ.B">("B_Φ")));
  const Rows P = keep("softmax", softmax(Z));
  double loss = 0;
  Rows Z_bar = P, y;
  for (std::size_t i = 0; i < P.size(); ++i) {
    const std::size_t x = std::size_t(follow[i]);
    y.push_back({std::log(P[i][x])});
    loss -= y[i][0] / double(P.size());
    for (std::size_t j = 0; j < Z_bar[i].size(); ++j) Z_bar[i][j] = (P[i][j] - (j == x ? 1 : 0)) / double(P.size());
  }
  keep("y", y);
  keep("loss", {{loss}});
  keep("Z_bar", Z_bar);

  // The library's model computes the same, for all three tokens and for the first two.
  const auto batch = tlm::unweighted<double>(0, tlm::Tokens{{3, 1, 0}});
  Model gradient;
  const double of_library = tlm::loss_and_gradient(model, batch, gradient);
  const Rows first_two = keep("T_LM_2", rows_of(model(tlm::Tokens{{0, 3}})));
  if (distance(Z, rows_of(model(tlm::Tokens{{0, 3, 1}}))) > 1e-12 || distance({Z[0], Z[1]}, first_two) > 1e-12 ||
      !(std::abs(loss - of_library) <= 1e-12)) {
    std::cerr << "by_hand: the library computes something else\n";
    return 1;
  }
  keep("W_e_bar", rows_of(weight<"Em.W_e">(gradient)));

  // Learns this one sequence by heart.
  tlm::SGD descend{0.1};
  Rows losses{{loss}};
  for (int step = 1; step <= 100; ++step) {
    tlm::zero_grad(gradient);
    tlm::loss_and_gradient(model, batch, gradient);
    descend(model, gradient);
    if (step == 1 || step == 10 || step == 100) losses.push_back({tlm::loss(model, batch)});
  }
  keep("losses", losses);
  keep("learned", softmax(rows_of(model(tlm::Tokens{{0, 3, 1}}))));
  std::cout << steps.dump(1) << '\n';
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
