// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/models/transformer_lm.hpp>

/// What a model computes on its way, and what a single entry of it is made of.
namespace page {

/// Applies a model, and keeps one of the matrices on the way: the number `box` in the order in which they are computed, and of
/// its entry (i, j) the terms a·b that it is the sum of. All count from 0. What a mask hides is NaN.
class Inside {
 public:
  Inside(std::size_t box, std::size_t i, std::size_t j) : box_{box}, i_{i}, j_{j} {}

  /// The matrices, a line each: where it stands, a tab, and what was done there.
  std::string names;
  /// How the entry is made, as a formula.
  std::string formula;
  std::size_t rows = 0, cols = 0;
  std::vector<double> entries, terms;

  /// T(X), where T stands at `path`.
  template <class T>
  tlm::CodomainOf<T> operator()(const std::string& path, const T& layer, const tlm::DomainOf<T>& X) {
    if constexpr (requires { layer.value_and_weights(X); }) {
      return attention(path, layer, X);
    } else if constexpr (requires { typename T::form; }) {
      return through(std::type_identity<typename T::form>{}, path, layer, X);
    } else {
      tlm::CodomainOf<T> Y = layer(X);
      keep(path, name_of(layer), Y, [&] { made_by(layer, X); });
      return Y;
    }
  }

 private:
  template <class T>
  static std::string below(const std::string& path, std::size_t index = 0) {
    if constexpr (requires { T::symbol; })
      return path + (path.empty() ? "" : ".") + std::string(T::symbol) + (index > 0 ? "_" + std::to_string(index) : "");
    else
      return path;
  }

  template <class G, class... Fs, class T, class X>
  auto through(std::type_identity<tlm::forms::Composition<G, Fs...>>, const std::string& path, const T& layer,
               const X& x) {
    const auto y = (*this)(below<decltype(layer.f)>(path), layer.f, x);
    return (*this)(below<G>(path), layer.g, y);
  }
  template <class F, std::size_t count, class T, class X>
  auto through(std::type_identity<tlm::forms::Stack<F, count>>, const std::string& path, const T& layer, X x) {
    for (std::size_t k = 0; k < count; ++k) x = (*this)(below<F>(path, k + 1), layer.f[k], x);
    return x;
  }
  template <class F, class T, class X>
  auto through(std::type_identity<tlm::forms::Residual<F>>, const std::string& path, const T& layer, const X& x) {
    const X y = (*this)(below<F>(path), layer.f, x);
    X sum = x + y;
    keep(path, "X + F(X)", sum, [&] {
      formula = "x + f(x)";
      add(x(i_, j_), 1);
      add(y(i_, j_), 1);
    });
    return sum;
  }

  template <class T, class X>
  tlm::CodomainOf<T> attention(const std::string& path, const T& layer, const X& x) {
    const auto Q = (*this)(path, layer.q, x), K = (*this)(path, layer.k, x), V = (*this)(path, layer.v, x);
    const auto with_weights = layer.value_and_weights(x);
    const auto& A = with_weights.weights;
    constexpr std::size_t n_heads = std::remove_cvref_t<decltype(A)>::n_heads, d_head = decltype(Q)::cols / n_heads;
    for (std::size_t h = 0; h < n_heads; ++h) {
      const auto alpha = A(0, h);
      if (!keeps(path, "A, head " + std::to_string(h + 1), alpha.rows, alpha.cols)) continue;
      for (std::size_t i = 0; i < alpha.rows; ++i)
        for (std::size_t j = 0; j < alpha.cols; ++j)
          entries.push_back(j < alpha.visible(i) ? double(alpha(i, j)) : std::numeric_limits<double>::quiet_NaN());
      formula = "softmax of the scores q_i·k_j/√d_head in this row; this score is the sum";
      if (j_ < alpha.visible(i_))
        for (std::size_t k = h * d_head; k < (h + 1) * d_head; ++k)
          add(Q(i_, k), double(K(j_, k)) / std::sqrt(double(d_head)));
    }
    const tlm::CodomainOf<T>& Y = with_weights.value;
    keep(path, "A×V", Y, [&] {
      const auto alpha = A(0, j_ / d_head);
      formula = "Σ a_ik·v_kj over the visible rows k ≤ i";
      for (std::size_t k = 0; k < alpha.visible(i_); ++k) add(alpha(i_, k), V(k, j_));
    });
    return Y;
  }

  /// What is done by a layer that is not made of others.
  template <class T>
  static std::string name_of(const T& layer) {
    std::string name;
    if constexpr (requires { T::symbol; }) name = T::symbol;
    if (name.empty()) T::weights([&](const tlm::Name& weight, const auto&) { name = weight.letter; }, layer);
    if constexpr (requires { layer.W; }) return "×" + name;
    if constexpr (requires { layer.B; }) return "+" + name;
    return name;
  }

  template <class T, class X>
  void made_by(const T& layer, const X& x) {
    if constexpr (requires { layer.W; }) {
      formula = "Σ x_ik·w_kj";
      for (std::size_t k = 0; k < X::cols; ++k) add(x(i_, k), layer.W(k, j_));
    } else if constexpr (requires { layer.B; }) {
      formula = "x_ij + b_j";
      add(x(i_, j_), 1);
      add(layer.B(0, j_), 1);
    } else if constexpr (requires { layer.W_e; }) {
      formula = "row x_i of W_e";
      add(layer.W_e(std::size_t(x(i_, 0)), j_), 1);
    } else if constexpr (requires { layer.PE; }) {
      formula = "x_ij + row i of PE";
      add(x(i_, j_), 1);
      add(layer.PE(i_, j_), 1);
    } else if constexpr (requires { layer.a; }) {
      formula = "a_j·(x_ij − mean)/(σ + ε) + b_j";
      const double scaled = double(layer(x)(i_, j_)) - double(layer.b(0, j_));
      add(scaled / double(layer.a(0, j_)), layer.a(0, j_));
      add(layer.b(0, j_), 1);
    } else {
      formula = "max(0, x_ij)";
      add(x(i_, j_), x(i_, j_) > 0 ? 1 : 0);
    }
  }

  /// Adds a line for the matrix; whether it is the one that is kept.
  bool keeps(const std::string& path, const std::string& name, std::size_t its_rows, std::size_t its_cols) {
    names += path + '\t' + name + '\n';
    if (count_++ != box_) return false;
    rows = its_rows, cols = its_cols;
    i_ = std::min(i_, rows - 1), j_ = std::min(j_, cols - 1);
    return true;
  }
  template <class M, class Make>
  void keep(const std::string& path, const std::string& name, const M& Y, const Make& make) {
    if (!keeps(path, name, Y.rows(), M::cols)) return;
    entries.assign(Y.data(), Y.data() + rows * cols);
    make();
  }
  void add(double a, double b) {
    terms.push_back(a);
    terms.push_back(b);
  }

  std::size_t box_, i_, j_, count_ = 0;
};

}  // namespace page
