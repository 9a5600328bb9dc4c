// SPDX-License-Identifier: MIT
// The numbers that the book's pictures show, as JSON: the positional encoding, and its inner products. Which rows of a
// result depend on which rows of its input. What each arithmetic says about the layers, and about planted errors. And
// how many multiplications a layer needs.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <examples/shared/command_line.hpp>
#include <proofs/controls.hpp>
#include <tlm/all.hpp>
#include <tlm/checking/check.hpp>

namespace {

using namespace tlm;
using checking::Dependencies;
using Json = nlohmann::ordered_json;

/// PE of the article for 64 positions and 32 columns, T_1, and all ⟨PE_p, PE_q⟩.
Json positional_encoding() {
  constexpr std::size_t M = 64, d = 32;
  using Encoding = PositionalEncoding<M, d, double>;
  const auto PE = Encoding::sinusoidal();
  Json rows = Json::array(), products = Json::array(), angles = Json::array();
  for (std::size_t p = 0; p < M; ++p) {
    Json row = Json::array(), product = Json::array();
    for (std::size_t j = 0; j < d; ++j) row.push_back(PE(p, j));
    for (std::size_t q = 0; q < M; ++q) product.push_back(sum_of(PE.row(p) * PE.row(q)));
    rows.push_back(row);
    products.push_back(product);
  }
  for (std::size_t i = 0; i < d / 2; ++i) angles.push_back(Encoding::angle(i));
  return {{"rows", rows}, {"products", products}, {"angles", angles}};
}

/// For each row i of T(X): the rows of X that it may depend on, for every input and all weights.
template <template <class> class Layer>
Json dependencies(const std::string& name) {
  constexpr std::size_t rows = 8;
  Generator generator{1};
  const auto layer = checking::draw_layer<Layer<Dependencies>>(generator);
  using Rows = typename Layer<Dependencies>::domain;
  const auto Y = layer(checking::tagged(Sequences{rows}, Rows::cols).template as<Rows>());
  Json matrix = Json::array();
  for (std::size_t i = 0; i < rows; ++i) {
    Dependencies seen(1);
    for (std::size_t j = 0; j < Layer<Dependencies>::codomain::cols; ++j) seen += Y(i, j);
    Json row = Json::array();
    for (std::size_t r = 0; r < rows; ++r) row.push_back(int(seen.tags() >> r & 1));
    matrix.push_back(row);
  }
  return {{"name", name}, {"matrix", matrix}};
}

/// What each arithmetic says: the first place where a claim fails, such as "n = 2, i = 1", or that it holds. Nothing if
/// it cannot tell.
Json as_json(const checking::Verdict& verdict, bool of_tokens) {
  const auto seen = [](const std::optional<Failure>& failure) -> Json {
    if (!failure) return "holds";
    return "n = " + std::to_string(failure->n.value()) + ", i = " + std::to_string(failure->i.value());
  };
  Json json{{"double", seen(verdict.reals)}, {"bits", seen(verdict.bits)}, {"field", seen(verdict.field)}};
  if (!of_tokens) json["sets"] = seen(verdict.sets);
  return json;
}

/// What each arithmetic says about a claim that follows from a layer's type.
template <template <class> class Layer>
void add_verdict(Json& list, const std::string& name) {
  constexpr bool is_rowwise = rowwise<Layer<double>>;
  const auto verdict =
      checking::verdict_on<Layer>(name, is_rowwise ? checking::Claim::rowwise : checking::Claim::autoregressive);
  list.push_back({{"name", name},
                  {"claim", is_rowwise ? "rowwise" : "autoregressive"},
                  {"verdict", as_json(verdict, checking::reads_tokens<Layer<double>>)}});
}

/// What each arithmetic says about T(X|i) = T(X)|i for a planted error.
template <template <class> class Control>
void add_control(Json& list, const std::string& name) {
  list.push_back({{"name", name},
                  {"verdict", as_json(checking::verdict_on<Control>(name, checking::Claim::autoregressive), false)}});
}

/// A number that counts how often numbers are multiplied or divided.
struct Counted {
  static inline std::uint64_t count = 0;
  double value = 0;

  Counted() = default;
  template <class Number>
  explicit constexpr Counted(Number number) : value{double(number)} {}

  friend Counted operator+(Counted a, Counted b) { return Counted(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return Counted(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return ++count, Counted(a.value * b.value); }
  friend Counted operator/(Counted a, Counted b) { return ++count, Counted(a.value / b.value); }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }
  friend Counted exp(Counted a) { return Counted(std::exp(a.value)); }
  friend Counted sqrt(Counted a) { return Counted(std::sqrt(a.value)); }
  friend Counted relu(Counted a) { return Counted(tlm::relu(a.value)); }
  friend Counted relu_derivative(Counted a) { return Counted(tlm::relu_derivative(a.value)); }
  friend Counted maximum(const Counted* numbers, std::size_t count_of) {
    Counted greatest = numbers[0];
    for (std::size_t j = 1; j < count_of; ++j) greatest.value = std::max(greatest.value, numbers[j].value);
    return greatest;
  }
  friend Counted quotient_or_zero(Counted a, Counted b) { return b.value == 0 ? Counted(0) : a / b; }
};

/// How many multiplications action() needs.
std::uint64_t multiplications(const auto& action) {
  Counted::count = 0;
  action();
  return Counted::count;
}

/// Multiplications of causal attention and of FF for n rows. Then those of T_LM for n tokens, one at a time: with the
/// rows computed before, and without them.
Json cost() {
  constexpr std::size_t d = 16, longest = 256;
  using Model = TransformerLM<
      Config{.vocab_size = 8, .d_model = d, .d_ff = 2 * d, .n_layers = 1, .n_heads = 2, .max_len = longest}, Counted>;
  const CausalAttention<d, 2, Counted> CA;
  const FeedForward<d, 2 * d, Counted> FF;
  const Model model;
  Json list = Json::array();
  State<Model> state;
  std::uint64_t with_memory = 0;
  std::size_t read = 0;
  for (std::size_t n = 16; n <= longest; n += 16) {
    const Matrix<tlm::n, d, Counted> X{Sequences{n}, Counted(1)};
    for (; read < n; ++read) with_memory += multiplications([&] { advance(model, state, Tokens{0}); });
    const std::uint64_t whole = multiplications([&] { model(Tokens{std::vector<Token>(n, 0)}); });
    list.push_back({{"n", n},
                    {"CA", multiplications([&] { CA(X); })},
                    {"FF", multiplications([&] { FF(X); })},
                    {"whole", whole},
                    {"extended", with_memory}});
  }
  return {{"d_model", d}, {"rows", list}};
}

void print() {
  using namespace proofs;
  Json verdicts = Json::array(), controls = Json::array();
  for_each_layer([&]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (autoregressive<Layer<double>>) add_verdict<Layer>(verdicts, std::string(listed.name));
  });
  add_control<UpsideDownMask>(controls, "a mask upside down");
  add_control<OffByOneMask>(controls, "a mask j ≤ i + 1");
  add_control<AdditiveMask>(controls, "a mask by adding −10⁹");
  add_control<MaskByZero>(controls, "a mask by multiplying by 0");
  add_control<FullRowMaximum>(controls, "the maximum of the full row");
  add_control<DividedByRootN>(controls, "attention divided by √n");
  add_control<PositionsFromTheRight>(controls, "positions from the right");
  add_control<AveragedIdentity>(controls, "A(X) = I/n");
  const Json json{{"positional_encoding", positional_encoding()},
                  {"dependencies",
                   {dependencies<FF>("FF"), dependencies<CA>("CA"), dependencies<BehindEm>("T_LM after Em"),
                    dependencies<MH>("attention without a mask")}},
                  {"verdicts", verdicts},
                  {"controls", controls},
                  {"cost", cost()}};
  std::cout << json.dump(1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  return program::CommandLine{"pictures", "What the book's pictures show, as numbers, in JSON."}.run(argc, argv, print);
}
