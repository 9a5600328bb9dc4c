// SPDX-License-Identifier: MIT
// The tie between the C++ templates and the formal definitions: draws weights and inputs of each layer over the prime field,
// and writes for each a file in which Coq computes what the exported definition gives for them, and compares: the value, and
// what the pullback makes of a cotangent that is drawn, too.
//
//   numbers DIRECTORY     writes DIRECTORY/agrees_….v, and prints for each its name, what it compares, and the layer

#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <proofs/kernel/export/file.hpp>
#include <tlm/algebra/parts.hpp>
#include <tlm/checking/drawing.hpp>

#include "../all_layers.hpp"

using namespace tlm;
using namespace tlm::proofs;
using checking::draw_layer;
using checking::draw_matrix;
using checking::PrimeField;
using checking::redrawing;

namespace {

constexpr std::size_t greatest_n = 4;
constexpr std::uint64_t key_of_hashes = 11;

/// begin a; b; … end
std::string listed(const std::string& begin, const std::vector<std::string>& items, const std::string& end) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : "; ") + item;
  return begin + text + end;
}

std::string number(PrimeField x) { return std::to_string(x.residue()); }
std::string number(Token x) { return std::to_string(x) + "%nat"; }

/// The rows of a matrix; a token is a row.
template <class M>
std::vector<std::string> rows_of(const M& X, std::size_t rows) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < rows; ++i) {
    if constexpr (std::is_same_v<M, Tokens>) {
      list.push_back(number(X(i, 0)));
    } else {
      std::vector<std::string> row;
      for (std::size_t j = 0; j < M::cols; ++j) row.push_back(number(X(i, j)));
      list.push_back(listed("⟨", row, "⟩"));
    }
  }
  return list;
}
template <class M>
std::string matrix(const M& X) {
  return listed("[", rows_of(X, X.rows()), "]");
}

/// The weights in their order, each as the exported definition takes it: those of a stack as one function. First what defines
/// them, then their names.
template <class Layer>
std::pair<std::string, std::string> weights_of(Layer& layer) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;
  tlm::detail::visit_weights(
      [&]<class Weight>(const tlm::detail::PlacedName& name, Weight& weight) {
        const std::string key = coq::key_of(name);
        if (values[key].empty()) order.push_back(key);
        const auto rows = rows_of(weight, Weight::fixed_rows());
        values[key].push_back(name.role == Role::matrix ? listed("⟨", rows, "⟩") : rows[0]);
      },
      layer);
  std::string definitions, names;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto& list = values[order[k]];
    std::string value = list[0];
    if (order[k].find('#') != std::string::npos) {
      value = "fun l => match l with";
      for (std::size_t l = 0; l < list.size(); ++l) value += " | " + std::to_string(l + 1) + "%nat => " + list[l];
      value += " | _ => " + list[0] + " end";
    }
    const std::string name = " weight_" + std::to_string(k + 1);
    definitions += "Definition" + name + " := " + value + ".\n";
    names += name;
  }
  return {definitions, names};
}

/// What a pullback added to a gradient, as one list of numbers in the order of the weights, each weight behind its path.
template <class Layer>
std::string added(Layer& gradient, Layer& before) {
  const auto now = parameters(gradient), then = parameters(before);
  std::string text;
  for (std::size_t k = 0; k < now.size(); ++k) {
    text += "\n      (* " + std::string(now[k].path) + " *)";
    for (std::size_t e = 0; e < now[k].size(); ++e)
      text += (k + e > 0 ? "; " : " ") + number(now[k].numbers[e] - then[k].numbers[e]);
  }
  return "[" + text + "]";
}

template <class Layer, bool has_pullback>
void write(const std::string& directory, std::size_t number, const std::string& name) {
  std::string definitions, weights;
  std::vector<std::string> inputs, outputs, cotangents, pulled_back;
  redrawing(number, [&](Generator& generator) {
    auto layer = draw_layer<Layer>(generator);
    inputs.clear(), outputs.clear(), cotangents.clear(), pulled_back.clear();
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      const auto X = [&]<class Domain>(Domain*) {
        if constexpr (checking::Pair<Domain>)
          return Domain{draw_matrix<decltype(Domain::x)>(Sequences{n + 1}, generator),
                        draw_matrix<decltype(Domain::y)>(Sequences{n}, generator)};
        else
          return draw_matrix<Domain>(Sequences{n}, generator);
      }(static_cast<typename Layer::domain*>(nullptr));
      const auto Y = layer(X);
      if constexpr (checking::Pair<typename Layer::domain>)
        inputs.push_back("(" + matrix(X.x) + ", " + matrix(X.y) + ")");
      else
        inputs.push_back(matrix(X));
      outputs.push_back(matrix(Y));
      if constexpr (has_pullback) {
        // The gradient is added to what is there, which is no 0.
        auto before = draw_layer<Layer>(generator), gradient = before;
        const auto Y_bar = draw_matrix<typename Layer::codomain>(Sequences{n}, generator);
        const auto X_bar = layer.value_and_pullback(X).pullback(Y_bar, gradient);
        cotangents.push_back("(" + inputs.back() + ", " + matrix(Y_bar) + ")");
        if constexpr (std::is_same_v<typename Layer::domain, Tokens>)
          pulled_back.push_back("(" + inputs.back() + ", " + added(gradient, before) +
                                ")");  // nothing goes back to tokens
        else
          pulled_back.push_back("(" + matrix(X_bar) + ", " + added(gradient, before) + ")");
      }
    }
    std::tie(definitions, weights) = weights_of(layer);
    return true;
  });
  constexpr bool pair = checking::Pair<typename Layer::domain>;
  const std::string file = "agrees_" + std::to_string(number);
  std::ofstream out{directory + "/" + file + ".v"};
  // The kernel computes, once: what `vm_compute` computed in a proof the kernel would compute again.
  out << "(* " << name << ": what the exported definition gives equals what the C++ template gave. *)\n"
      << coq::file<Layer>("formal", {.claim = false, .pullback = has_pullback, .checked_by = "below"})
      << "\nFrom Coq Require Import Uint63.\nFrom tlm Require Import PrimeField.\nLocal Open Scope uint63_scope.\n"
      << "Definition W_p : list (Row int " << d_model
      << ") := " << matrix(ConstantPositionalEncoding<max_len, d_model, PrimeField>{}.PE) << ".\n"
      << "#[local] Instance arithmetic : Arithmetic int := prime_field " << key_of_hashes
      << " (sine_of W_p) (cosine_of W_p).\n"
      << definitions << "\n"
      << "Definition computed " << (pair ? "x X := formal x" : ":= formal (memory := unit)") << weights
      << (pair ? " [] X" : " []") << ".\n"
      << "Theorem agrees : map " << (pair ? "(fun xX => computed (fst xX) (snd xX))" : "computed") << "\n    "
      << listed("[", inputs, "]") << "\n  = " << listed("[", outputs, "]") << ".\n"
      << "Proof. match goal with |- _ = ?numbers => vm_cast_no_check (eq_refl numbers) end. Qed.\n";
  if constexpr (has_pullback)
    out << "\nDefinition computed_backwards X Y_bar := pullback_here (formal_layer (memory := unit)" << weights
        << ") [] X Y_bar.\n"
        << "Theorem agrees_backwards : map (fun XY => let (X_bar, w_bar) := computed_backwards (fst XY) (snd XY) in\n"
        << "    (X_bar, coordinates (num := int) w_bar))\n    " << listed("[", cotangents, "]")
        << "\n  = " << listed("[", pulled_back, "]")
        << ".\nProof. match goal with |- _ = ?numbers => vm_cast_no_check (eq_refl numbers) end. Qed.\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + file + ".v");
  std::cout << file << (has_pullback ? " value-and-pullback " : " value ") << name << '\n';
}

// Parts whose names could be taken for those of others: two of one symbol that are different formulas; two weights whose paths,
// U.V.W and U_V.W, are one with _ for the point; and a formula that is called as a layer of the theory.
template <class Real>
struct SoftmaxFirst : Composition<ReLu<Real>, SoftMax<Real>> {
  static constexpr std::string_view symbol = "G";
};
template <class Real>
struct SoftmaxLast : Composition<SoftMax<Real>, ReLu<Real>> {
  static constexpr std::string_view symbol = "G";
};
template <class Real>
struct V : Composition<PlusK<Real>, Times<"W", d_model, d_model, Real>> {
  static constexpr std::string_view symbol = "V";
};
template <class Real>
struct U : Composition<V<Real>, ReLu<Real>> {
  static constexpr std::string_view symbol = "U";
};
template <class Real>
struct U_V : Composition<PlusK<Real>, Times<"W", d_model, d_model, Real>> {
  static constexpr std::string_view symbol = "U_V";
};
template <class Real>
struct CalledReLU : Composition<PlusK<Real>, SoftMax<Real>> {
  static constexpr std::string_view symbol = "ReLU";
};
template <class Real>
using Namesakes = Composition<SoftmaxFirst<Real>, U<Real>, SoftmaxLast<Real>, U_V<Real>, CalledReLU<Real>>;

}  // namespace

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: numbers DIRECTORY\n";
    return 2;
  }
  PrimeField::key = key_of_hashes;
  const std::string directory = argv[1];
  std::size_t number = 0;
  const auto tie = [&]<template <class> class Layer>(Listed<Layer> listed) {
    // The theory has no RelativeBias, which is an example in proofs/all_layers.hpp, and not what the NumPy notebook appends to
    // see positions. Of X itself, and of Dropout without noise, there is nothing to compute.
    using T = Layer<PrimeField>;
    constexpr bool without_theory =
        is_one_of<T, BiasedH<PrimeField>, DropOut<PrimeField>, Same<PrimeField>, NumberAppended<PrimeField>,
                  IndicatorsAppended<PrimeField>, IndicatorsOfSequenceAppended<PrimeField>>;
    // Of these, and of what reads a memory, the theory has no pullback.
    constexpr bool without_pullback =
        is_one_of<T, W_p<PrimeField>, SinesCosines<PrimeField>, Gelu<PrimeField>, PositionedH<PrimeField>,
                  TiedEm<PrimeField>, TiedOut<PrimeField>, FormulatedModel<PrimeField>, NumpyModel<PrimeField>,
                  WolframModel<PrimeField>>;
    if constexpr (!without_theory) write<T, !without_pullback>(directory, ++number, std::string(listed.name));
  };
  for_each_layer(tie);
  tie(Listed<Namesakes>{"parts with the names of others"});
  tie(Listed<FormulatedModel>{"the formulated Transformer"});
  tie(Listed<NumpyModel>{"the NumPy notebook's Transformer"});
  tie(Listed<WolframModel>{"the Wolfram article's Transformer"});
}
