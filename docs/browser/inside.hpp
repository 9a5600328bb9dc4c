// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/models/transformer_lm.hpp>

#include "explain.hpp"

/// What a model computes on its way in one training step, forth and back.
namespace page {

/// Applies a model and pulls a cotangent back through it. Keeps one of the boxes on the way: number `box` in the order in which
/// they compute. The values and the gradients are the layers' own; the gradients of weights are those of the training step.
class Inside {
 public:
  explicit Inside(std::size_t box) : chosen_{box} {}

  /// The boxes, a line each: where it is in the model, a tab, and what it does.
  std::string names;
  /// The box that is kept.
  Box box;

  /// T(X), where T is at `path`, with its pullback. That takes Ȳ and the gradient of T's weights, and returns X̄.
  template <class T>
  auto operator()(const std::string& path, const T& layer, const tlm::DomainOf<T>& X) {
    if constexpr (requires { layer.value_and_weights(X); }) {
      return attention(path, layer, X);
    } else if constexpr (requires { typename T::form; }) {
      return through(std::type_identity<typename T::form>{}, path, layer, X);
    } else {
      auto [Y, pullback] = layer.value_and_pullback(X);
      const bool kept = keeps(path, name_of(layer), kind_of(layer));
      if (kept) {
        box.parts.push_back({"X", table(X), {}});
        T::weights(
            [&](const tlm::Name& name, const auto& W) {
              box.parts.push_back({std::string(name.letter), table(W), {}});
            },
            layer);
        box.parts.push_back({box.parts.back().name == "Y" ? "Z" : "Y", table(Y), {}});  // Φ has a weight Y
      }
      return tlm::with_pullback(std::move(Y), [this, kept, pullback = std::move(pullback)](
                                                  const tlm::CodomainOf<T>& Y_bar, const T& gradient) {
        T scratch = gradient;
        auto X_bar = pullback(Y_bar, scratch);
        if (kept) {
          std::size_t part = 0;
          if constexpr (requires { X_bar.sequences(); }) box.parts[part].gradient = table(X_bar);
          T::weights([&](const tlm::Name&, const auto& W_bar) { box.parts[++part].gradient = table(W_bar); }, gradient);
          box.parts[++part].gradient = table(Y_bar);
        }
        return X_bar;
      });
    }
  }

  /// The last box: what the loss makes of the scores Z, whose softmax is P. Row i has the share ω_i/Σω of the loss, and is to say
  /// token x_i.
  template <class M>
  void loss(const M& Z, const M& P, const tlm::Tokens& x, const std::vector<double>& shares, const M& Z_bar) {
    if (!keeps("loss", "softmax(Z)", Kind::loss)) return;
    box.parts = {{"Z", table(Z), table(Z_bar)},
                 {"P", table(P), {}},
                 {"x", table(x), {}},
                 {"ω/Σω", {shares.size(), 1, shares}, {}}};
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
    auto f = (*this)(below<decltype(layer.f)>(path), layer.f, x);
    auto g = (*this)(below<G>(path), layer.g, f.value);
    return tlm::with_pullback(
        std::move(g.value), [f = std::move(f.pullback), g = std::move(g.pullback)](
                                const auto& Y_bar, const T& gradient) { return f(g(Y_bar, gradient.g), gradient.f); });
  }
  template <class F, std::size_t count, class T, class X>
  auto through(std::type_identity<tlm::forms::Stack<F, count>>, const std::string& path, const T& layer, X x) {
    std::vector<decltype((*this)(path, layer.f[0], x).pullback)> pullbacks;
    for (std::size_t k = 0; k < count; ++k) {
      auto f = (*this)(below<F>(path, k + 1), layer.f[k], x);
      x = std::move(f.value);
      pullbacks.push_back(std::move(f.pullback));
    }
    return tlm::with_pullback(std::move(x), [pullbacks = std::move(pullbacks)](X Y_bar, const T& gradient) {
      for (std::size_t k = count; k-- > 0;) Y_bar = pullbacks[k](Y_bar, gradient.f[k]);
      return Y_bar;
    });
  }
  template <class F, class T, class X>
  auto through(std::type_identity<tlm::forms::Residual<F>>, const std::string& path, const T& layer, const X& x) {
    auto f = (*this)(below<F>(path), layer.f, x);
    X sum = x + f.value;
    const bool kept = keeps(path, "X + F(X)", Kind::residual);
    if (kept) box.parts = {{"X", table(x), {}}, {"F(X)", table(f.value), {}}, {"Y", table(sum), {}}};
    return tlm::with_pullback(std::move(sum),
                              [this, kept, f = std::move(f.pullback)](const X& Y_bar, const T& gradient) {
                                const X through_f = f(Y_bar, gradient.f);
                                X X_bar = Y_bar + through_f;
                                if (kept) {
                                  box.parts[0].gradient = table(X_bar);
                                  box.parts[1].gradient = box.parts[2].gradient = table(Y_bar);
                                  box.hidden = {table(through_f)};
                                }
                                return X_bar;
                              });
  }

  /// Attention is its q, k and v, a box for the weights of each head, and one for A×V. What it sends back to these is computed in
  /// explain.hpp, and by q, k and v the rest.
  template <class T, class X>
  auto attention(const std::string& path, const T& layer, const X& x) {
    auto q = (*this)(path, layer.q, x);
    auto k = (*this)(path, layer.k, x);
    auto v = (*this)(path, layer.v, x);
    auto [Y, A] = layer.value_and_weights(x);
    Heads heads{{}, table(q.value), table(k.value), table(v.value)};
    std::size_t kept = none;
    for (std::size_t h = 0; h < decltype(A)::n_heads; ++h) {
      const auto alpha = A(0, h);
      Table weights{alpha.rows, alpha.cols,
                    std::vector(alpha.rows * alpha.cols, std::numeric_limits<double>::quiet_NaN())};
      for (std::size_t i = 0; i < alpha.rows; ++i)
        for (std::size_t j = 0; j < alpha.visible(i); ++j) weights.at(i, j) = double(alpha(i, j));
      heads.A.push_back(std::move(weights));
    }
    for (std::size_t h = 0; h < heads.A.size(); ++h)
      if (keeps(path, "A, head " + std::to_string(h + 1), Kind::weights)) box = heads.weights(h), kept = h;
    if (keeps(path, "A×V", Kind::product)) box = heads.product(table(Y)), kept = heads.A.size();
    return tlm::with_pullback(
        std::move(Y), [this, kept, heads = std::move(heads), q = std::move(q.pullback), k = std::move(k.pullback),
                       v = std::move(v.pullback)](const tlm::CodomainOf<T>& Y_bar, const T& gradient) {
          HeadsBack back = heads.pull_back(table(Y_bar));
          if (kept < heads.A.size()) back.put_weights(kept, box);
          if (kept == heads.A.size()) back.put_product(box);
          return q(matrix<tlm::CodomainOf<decltype(gradient.q)>>(back.Q, Y_bar), gradient.q) +
                 k(matrix<tlm::CodomainOf<decltype(gradient.k)>>(back.K, Y_bar), gradient.k) +
                 v(matrix<tlm::CodomainOf<decltype(gradient.v)>>(back.V, Y_bar), gradient.v);
        });
  }

  /// What a layer does that is not made of others.
  template <class T>
  static std::string name_of(const T& layer) {
    std::string name;
    if constexpr (requires { T::symbol; }) name = T::symbol;
    if (name.empty()) T::weights([&](const tlm::Name& weight, const auto&) { name = weight.letter; }, layer);
    if constexpr (requires { layer.W; }) return "×" + name;
    if constexpr (requires { layer.B; }) return "+" + name;
    return name;
  }
  template <class T>
  static constexpr Kind kind_of(const T& layer) {
    if constexpr (requires { layer.W; }) return Kind::times;
    if constexpr (requires { layer.B; }) return Kind::plus;
    if constexpr (requires { layer.W_e; }) return Kind::embedding;
    if constexpr (requires { layer.PE; }) return Kind::positions;
    if constexpr (requires { layer.a; }) return Kind::normalization;
    return Kind::relu;
  }

  template <class M>
  static Table table(const M& X) {
    return {X.rows(), M::cols, std::vector<double>(X.data(), X.data() + X.rows() * M::cols)};
  }
  /// The same entries as a matrix of the sequences of Y.
  template <class M, class Y>
  static M matrix(const Table& entries, const Y& like) {
    M X{like.sequences()};
    std::copy(entries.entries.begin(), entries.entries.end(), X.data());
    return X;
  }

  /// Adds a line for a box; whether it is the one that is kept.
  bool keeps(const std::string& path, const std::string& name, Kind kind) {
    names += path + '\t' + name + '\n';
    if (count_++ != chosen_) return false;
    box.kind = kind;
    box.of_scores = path == "Φ";
    return true;
  }

  static constexpr std::size_t none = std::size_t(-1);
  std::size_t chosen_, count_ = 0;
};

}  // namespace page
