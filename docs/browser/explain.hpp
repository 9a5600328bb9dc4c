// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Of what an entry of a matrix is made, as a sum of products, in a layer and in its pullback.
namespace page {

/// A matrix of any shape. What a mask hides is NaN.
struct Table {
  std::size_t rows = 0, cols = 0;
  std::vector<double> entries;

  double& at(std::size_t i, std::size_t j) { return entries[i * cols + j]; }
  double operator()(std::size_t i, std::size_t j) const { return entries[i * cols + j]; }
  bool visible(std::size_t i, std::size_t j) const { return !std::isnan((*this)(i, j)); }
};

/// A matrix of a box, and the gradient of the loss with respect to it: none for tokens.
struct Part {
  std::string name;
  Table value, gradient;
};

/// What there is a row for, or a column: nothing that has a name, each token that is read, that looks or is looked at, or each token
/// that there is.
enum class Axis { nameless, read, query, key, vocabulary };

/// What a box does.
enum class Kind { embedding, positions, times, plus, normalization, relu, residual, weights, product, loss };

/// A box of the drawing: what goes in, weights, what comes out, in this order; and what explains these.
struct Box {
  Kind kind = Kind::times;
  std::vector<Part> parts;
  std::vector<Table>
      hidden;  ///< What else explains them: A of each head; Ȳ and V of one head; what comes back through F.
  bool of_scores = false;  ///< Whether it returns a score for each token, as Φ does.

  /// Whether a part is a weight. All others have a row for each token.
  bool is_weight(std::size_t part) const {
    const bool has_weights =
        kind != Kind::residual && kind != Kind::weights && kind != Kind::product && kind != Kind::loss;
    return has_weights && part > 0 && part + 1 < parts.size();
  }
  /// What the rows of a part are of, and those of its gradient.
  Axis rows(std::size_t part) const {
    if (kind == Kind::weights) return part == 1 ? Axis::key : Axis::query;
    if (!is_weight(part)) return Axis::read;
    return kind == Kind::embedding ? Axis::vocabulary : Axis::nameless;
  }
  /// What the columns are of.
  Axis columns(std::size_t part) const {
    if (kind == Kind::weights) return part < 2 ? Axis::nameless : Axis::key;
    if (kind == Kind::loss) return part < 2 ? Axis::vocabulary : Axis::nameless;
    return of_scores && (part > 0 || kind == Kind::plus) ? Axis::vocabulary : Axis::nameless;
  }
  /// The part that is computed here.
  std::size_t result() const { return kind == Kind::loss ? 1 : parts.size() - 1; }
  /// The name of a part, or of its gradient, which has a bar over the first letter.
  std::string name(std::size_t part, bool of_gradient) const {
    std::string name = parts[part].name;
    if (of_gradient) name.insert(1, "\u0304");
    return name;
  }
};

/// An entry as a sum Σ a·b, with its formula. Where `formula` alone is given, the entry is not made here.
struct Explanation {
  std::string_view formula;
  std::vector<std::pair<double, double>> terms;
};

/// What attention sends back.
struct HeadsBack {
  Table Q, K, V;
  std::vector<Table> A, S;
  Table Y;

  void put_weights(std::size_t h, Box& box) const {
    const std::size_t width = box.parts[0].value.cols;
    box.parts[0].gradient = columns(Q, h * width, width);
    box.parts[1].gradient = columns(K, h * width, width);
    box.parts[2].gradient = S[h];
    box.parts[3].gradient = A[h];
    box.hidden = {columns(Y, h * box.hidden[0].cols, box.hidden[0].cols), box.hidden[0]};
  }
  void put_product(Box& box) const {
    box.parts[0].gradient = V;
    box.parts[1].gradient = Y;
  }

  static Table columns(const Table& X, std::size_t first, std::size_t count) {
    Table part{X.rows, count, {}};
    for (std::size_t i = 0; i < X.rows; ++i)
      for (std::size_t j = 0; j < count; ++j) part.entries.push_back(X(i, first + j));
    return part;
  }
};

/// Attention, of which head h has the weights A_h and its columns of Q, K and V.
struct Heads {
  std::vector<Table> A;
  Table Q, K, V;

  double c() const { return std::sqrt(double(Q.cols / A.size())); }

  /// The box of the weights of one head: Q, K, S = Q×Kᵀ/c and A = softmax(S).
  Box weights(std::size_t h) const {
    const std::size_t width = Q.cols / A.size(), v_width = V.cols / A.size();
    Box box{Kind::weights,
            {{"Q", HeadsBack::columns(Q, h * width, width), {}}, {"K", HeadsBack::columns(K, h * width, width), {}}},
            {}};
    Table S = A[h];
    for (std::size_t i = 0; i < S.rows; ++i)
      for (std::size_t j = 0; j < S.cols; ++j)
        if (S.visible(i, j)) {
          S.at(i, j) = 0;
          for (std::size_t k = 0; k < width; ++k)
            S.at(i, j) += box.parts[0].value(i, k) * box.parts[1].value(j, k) / c();
        }
    box.parts.push_back({"S", std::move(S), {}});
    box.parts.push_back({"A", A[h], {}});
    box.hidden = {HeadsBack::columns(V, h * v_width, v_width)};
    return box;
  }
  /// The box of A×V, for all heads.
  Box product(Table Y) const { return {Kind::product, {{"V", V, {}}, {"Y", std::move(Y), {}}}, A}; }

  /// Ā = Ȳ×Vᵀ, V̄ = Aᵀ×Ȳ, s̄_ij = a_ij (ā_ij − Σ_k a_ik ā_ik), Q̄ = S̄×K/c, K̄ = S̄ᵀ×Q/c, over what is visible.
  HeadsBack pull_back(const Table& Y_bar) const {
    const auto zero = [](const Table& X) { return Table{X.rows, X.cols, std::vector<double>(X.entries.size())}; };
    HeadsBack back{zero(Q), zero(K), zero(V), A, A, Y_bar};
    const std::size_t width = Q.cols / A.size(), v_width = V.cols / A.size();
    for (std::size_t h = 0; h < A.size(); ++h)
      for (std::size_t i = 0; i < Q.rows; ++i) {
        double mean = 0;
        for (std::size_t j = 0; j < K.rows; ++j) {
          if (!A[h].visible(i, j)) continue;
          double& a_bar = back.A[h].at(i, j) = 0;
          for (std::size_t k = h * v_width; k < (h + 1) * v_width; ++k) {
            a_bar += Y_bar(i, k) * V(j, k);
            back.V.at(j, k) += A[h](i, j) * Y_bar(i, k);
          }
          mean += A[h](i, j) * a_bar;
        }
        for (std::size_t j = 0; j < K.rows; ++j) {
          if (!A[h].visible(i, j)) continue;
          const double s_bar = back.S[h].at(i, j) = A[h](i, j) * (back.A[h](i, j) - mean);
          for (std::size_t k = h * width; k < (h + 1) * width; ++k) {
            back.Q.at(i, k) += s_bar * K(j, k) / c();
            back.K.at(j, k) += s_bar * Q(i, k) / c();
          }
        }
      }
    return back;
  }
};

/// The value of entry (i, j) of a part: what was computed of the parts before it.
inline Explanation explain_value(const Box& box, std::size_t part, std::size_t i, std::size_t j) {
  const std::vector<Part>& parts = box.parts;
  const std::string_view name = parts[part].name;
  const auto X = [&]() -> const Table& { return parts[0].value; };
  const auto weight = [&]() -> const Table& { return parts[1].value; };
  Explanation made;
  if (box.kind == Kind::loss) {
    if (name == "P") made.formula = "the softmax of row i of Z: exp(z_ij) as a share of its row";
    if (name == "x") made.formula = "the token that row i is to say";
    if (name == "ω/Σω") made.formula = "the share that row i has in the loss: only the answer counts";
    if (name == "Z") made.formula = "the scores of the model, from the box before";
    return made;
  }
  if (box.kind == Kind::weights) {
    const std::size_t width = parts[0].value.cols;
    if (name == "S" || name == "A") {
      const Table& S = parts[2].value;
      if (!S.visible(i, j)) return {"hidden", {}};
      if (name == "S") {
        made.formula = "Σ q_ik·k_jk/√d_head";
        for (std::size_t k = 0; k < width; ++k)
          made.terms.emplace_back(parts[0].value(i, k), parts[1].value(j, k) / std::sqrt(double(width)));
      } else {
        double greatest = S(i, j), sum = 0;
        for (std::size_t k = 0; k < S.cols; ++k)
          if (S.visible(i, k)) greatest = std::max(greatest, S(i, k));
        for (std::size_t k = 0; k < S.cols; ++k)
          if (S.visible(i, k)) sum += std::exp(S(i, k) - greatest);
        made = {"exp(s_ij − m)/Σ exp(s_ik − m) over the visible keys k, where m is the largest score",
                {{std::exp(S(i, j) - greatest), 1 / sum}}};
      }
    } else {
      made.formula = "from the boxes before, the columns of this head";
    }
    return made;
  }
  if (part == 0 && box.kind == Kind::embedding) return {"the token that row i reads", {}};
  if (part + 1 < parts.size())
    return {box.is_weight(part) ? "a weight, as it is before the step" : "from the boxes before", {}};
  switch (box.kind) {
    case Kind::embedding:
      made = {"row x_i of W_e", {{weight()(std::size_t(X()(i, 0)), j), 1}}};
      break;
    case Kind::positions:
      made = {"x_ij + row i of PE", {{X()(i, j), 1}, {weight()(i, j), 1}}};
      break;
    case Kind::times:
      made.formula = "Σ x_ik·w_kj";
      for (std::size_t k = 0; k < X().cols; ++k) made.terms.emplace_back(X()(i, k), weight()(k, j));
      break;
    case Kind::plus:
      made = {"x_ij + b_j", {{X()(i, j), 1}, {weight()(0, j), 1}}};
      break;
    case Kind::relu:
      made = {"max(0, x_ij)", {{X()(i, j), X()(i, j) > 0 ? 1 : 0}}};
      break;
    case Kind::residual:
      made = {"x_ij + f(x)_ij", {{X()(i, j), 1}, {weight()(i, j), 1}}};
      break;
    case Kind::product: {
      made.formula = "Σ a_ik·v_kj over the visible rows k ≤ i";
      const Table& A = box.hidden[j / (X().cols / box.hidden.size())];
      for (std::size_t k = 0; k < A.cols; ++k)
        if (A.visible(i, k)) made.terms.emplace_back(A(i, k), X()(k, j));
      break;
    }
    default:
      break;
  }
  return made;
}

/// z = (x − mean)/s of a row, with s = σ + ε, and σ.
struct Standardized {
  std::vector<double> z;
  double sigma = 0, s = 0;

  Standardized(const Table& X, std::size_t i) {
    double mean = 0;
    for (std::size_t k = 0; k < X.cols; ++k) mean += X(i, k) / double(X.cols);
    for (std::size_t k = 0; k < X.cols; ++k) sigma += (X(i, k) - mean) * (X(i, k) - mean) / double(X.cols);
    sigma = std::sqrt(sigma);
    s = sigma + 1e-6;
    for (std::size_t k = 0; k < X.cols; ++k) z.push_back((X(i, k) - mean) / s);
  }
};

/// Entry (i, j) of the gradient with respect to a part: what came back, of the gradients of the parts after it.
inline Explanation explain_gradient(const Box& box, std::size_t part, std::size_t i, std::size_t j) {
  const std::vector<Part>& parts = box.parts;
  const Table& Y_bar = parts.back().gradient;
  const auto X = [&]() -> const Table& { return parts[0].value; };
  const bool of_X = part == 0;
  Explanation made;
  if (box.kind == Kind::loss) {
    const double share = parts[3].value(i, 0), p = parts[1].value(i, j),
                 said = double(std::size_t(parts[2].value(i, 0)) == j);
    return {"ω_i/Σω·(p_ij − 1 if j is the token to be predicted)", {{share, p}, {share, -said}}};
  }
  if (box.kind == Kind::weights) {
    const Table &Q = parts[0].value, &K = parts[1].value, &S_bar = parts[2].gradient, &A = parts[3].value,
                &A_bar = parts[3].gradient;
    const double c = std::sqrt(double(Q.cols));
    if (part == 0) {
      made.formula = "Σ s̄_ik·k_kj/√d_head over the visible keys k";
      for (std::size_t k = 0; k < K.rows; ++k)
        if (A.visible(i, k)) made.terms.emplace_back(S_bar(i, k), K(k, j) / c);
    } else if (part == 1) {
      made.formula = "Σ s̄_ki·q_kj/√d_head over the rows k that see key i";
      for (std::size_t k = 0; k < Q.rows; ++k)
        if (A.visible(k, i)) made.terms.emplace_back(S_bar(k, i), Q(k, j) / c);
    } else if (!A.visible(i, j)) {
      made.formula = "hidden";
    } else if (part == 2) {
      made.formula = "a_ij·ā_ij − Σ a_ij·(a_ik·ā_ik)";
      made.terms.emplace_back(A(i, j), A_bar(i, j));
      for (std::size_t k = 0; k < A.cols; ++k)
        if (A.visible(i, k)) made.terms.emplace_back(A(i, j), -A(i, k) * A_bar(i, k));
    } else {
      made.formula = "Σ ȳ_ik·v_jk";
      const Table &Y = box.hidden[0], &V = box.hidden[1];
      for (std::size_t k = 0; k < V.cols; ++k) made.terms.emplace_back(Y(i, k), V(j, k));
    }
    return made;
  }
  if (part + 1 == parts.size()) return {"what comes back from the boxes after", {}};
  switch (box.kind) {
    case Kind::embedding:
      made.formula = "Σ ȳ_kj over the rows k whose token is i";
      for (std::size_t k = 0; k < X().rows; ++k)
        if (std::size_t(X()(k, 0)) == i) made.terms.emplace_back(Y_bar(k, j), 1);
      break;
    case Kind::positions:
      made.formula = of_X ? "ȳ_ij" : "ȳ_ij: row i of PE was added to row i alone";
      if (i < Y_bar.rows) made.terms.emplace_back(Y_bar(i, j), 1);
      break;
    case Kind::times:
      made.formula = of_X ? "Σ ȳ_ik·w_jk" : "Σ x_ki·ȳ_kj";
      if (of_X)
        for (std::size_t k = 0; k < Y_bar.cols; ++k) made.terms.emplace_back(Y_bar(i, k), parts[1].value(j, k));
      else
        for (std::size_t k = 0; k < Y_bar.rows; ++k) made.terms.emplace_back(X()(k, i), Y_bar(k, j));
      break;
    case Kind::plus:
      made.formula = of_X ? "ȳ_ij" : "Σ ȳ_kj over the rows k";
      if (of_X)
        made.terms.emplace_back(Y_bar(i, j), 1);
      else
        for (std::size_t k = 0; k < Y_bar.rows; ++k) made.terms.emplace_back(Y_bar(k, j), 1);
      break;
    case Kind::relu:
      made = {"ȳ_ij where x_ij > 0, otherwise 0", {{Y_bar(i, j), X()(i, j) > 0 ? 1 : 0}}};
      break;
    case Kind::residual:
      made = {of_X ? "ȳ_ij + what comes back through F" : "ȳ_ij", {{Y_bar(i, j), 1}}};
      if (of_X) made.terms.emplace_back(box.hidden[0](i, j), 1);
      break;
    case Kind::product: {
      made.formula = "Σ a_ki·ȳ_kj over the rows k that see row i";
      const Table& A = box.hidden[j / (X().cols / box.hidden.size())];
      for (std::size_t k = 0; k < A.rows; ++k)
        if (A.visible(k, i)) made.terms.emplace_back(A(k, i), Y_bar(k, j));
      break;
    }
    default:
      break;
  }
  return made;
}

/// The same for N, y = a·z + b, of which nothing is a sum of entries of the parts alone.
inline Explanation explain_normalization(const Box& box, std::size_t part, bool of_gradient, std::size_t i,
                                         std::size_t j) {
  const Table &X = box.parts[0].value, &a = box.parts[1].value, &b = box.parts[2].value, &Y_bar = box.parts[3].gradient;
  if (!of_gradient && part < 3)
    return {box.is_weight(part) ? "a weight, as it is before the step" : "from the boxes before", {}};
  if (!of_gradient)
    return {"z_ij·a_j + b_j with z = (x − mean)/(σ + ε)", {{Standardized{X, i}.z[j], a(0, j)}, {b(0, j), 1}}};
  if (part == 3) return {"what comes back from the boxes after", {}};
  Explanation made;
  if (part == 0) {
    const Standardized row{X, i};
    const auto d = double(X.cols);
    made.formula = "Σ ȳ_ik·∂y_ik/∂x_ij, and ∂y_ik/∂x_ij = a_k·((1 if k = j) − 1/d)/(σ + ε) − a_k·z_ij·z_ik/(d·σ)";
    for (std::size_t k = 0; k < X.cols; ++k)
      made.terms.emplace_back(Y_bar(i, k), a(0, k) * ((double(k == j) - 1 / d) / row.s -
                                                      (row.sigma > 0 ? row.z[j] * row.z[k] / (d * row.sigma) : 0)));
  } else {
    made.formula = part == 1 ? "Σ z_kj·ȳ_kj over the rows k" : "Σ ȳ_kj over the rows k";
    for (std::size_t k = 0; k < X.rows; ++k)
      made.terms.emplace_back(Y_bar(k, j), part == 1 ? Standardized{X, k}.z[j] : 1);
  }
  return made;
}

/// How entry (i, j) of a part was made, or of its gradient.
inline Explanation explain(const Box& box, std::size_t part, bool of_gradient, std::size_t i, std::size_t j) {
  if (box.kind == Kind::normalization) return explain_normalization(box, part, of_gradient, i, j);
  return of_gradient ? explain_gradient(box, part, i, j) : explain_value(box, part, i, j);
}

}  // namespace page
