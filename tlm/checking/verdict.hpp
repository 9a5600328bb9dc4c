// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>

#include <tlm/algebra/rules.hpp>
#include <tlm/checking/dual.hpp>
#include <tlm/checking/pullbacks.hpp>

/// A layer over all arithmetics that check it, and the verdict on a claim about it.
namespace tlm::checking {

/// A layer without its type, over the arithmetics that check a claim. A layer that reads tokens is not run over sets of
/// positions, because tokens carry no tags.
struct Subject {
  std::unique_ptr<const Operation<float>> in_float{};
  std::unique_ptr<const Operation<double>> in_double{};
  std::unique_ptr<const Operation<PrimeField>> in_field{};
  std::unique_ptr<const Operation<Dependencies>> in_sets{};
};
/// The subject of a layer, with these of its faces.
template <template <class> class Layer, int faces = value_face>
Subject subject(std::string_view name) {
  Subject subject{operation<Layer<float>, faces & ~(extension_face | form_face)>(name),
                  operation<Layer<double>, faces & ~form_face>(name), operation<Layer<PrimeField>, faces>(name)};
  if constexpr (!reads_tokens<Layer<double>>)
    subject.in_sets = operation<Layer<Dependencies>, faces & ~form_face>(name);
  return subject;
}

/// For each way to check a claim (claims.hpp), the counter-example that it finds.
struct Verdict {
  std::optional<Failure> reals{}, bits{}, field{}, sets{};

  bool holds() const { return !failure(); }
  /// The first failure, if there is one.
  std::optional<Failure> failure() const { return reals ? reals : bits ? bits : field ? field : sets; }

  friend std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
    for (const auto* failure : {&verdict.reals, &verdict.bits, &verdict.field, &verdict.sets})
      if (*failure) out << **failure;
    return out;
  }
};

/// The claim over all arithmetics of the subject, each with seeds and keys of its own.
inline Verdict verdict_on(const Subject& subject, Claim claim, const Limits& limits = {}) {
  Verdict verdict;
  if (subject.in_double) verdict.reals = compare_parts(*subject.in_double, claim, 1, limits);
  if (subject.in_float) verdict.bits = spoil_other_rows(*subject.in_float, claim, 2, limits);
  if (subject.in_double && !verdict.bits) verdict.bits = spoil_other_rows(*subject.in_double, claim, 3, limits);
  for (const std::uint64_t key : {11u, 12u})
    if (subject.in_field && !verdict.field) {
      PrimeField::key = key;
      verdict.field = compare_parts(*subject.in_field, claim, key, limits);
    }
  if (subject.in_sets) verdict.sets = trace_positions(*subject.in_sets, claim, limits);
  return verdict;
}
/// The verdict on a claim about a layer, as far as runs over the four arithmetics can tell.
template <template <class> class Layer>
Verdict verdict_on(std::string_view name, Claim claim, const Limits& limits = {}) {
  return verdict_on(subject<Layer>(name), claim, limits);
}

/// A layer without its type, over all arithmetics, and what its type claims of it.
struct CheckedLayer : Subject {
  std::unique_ptr<const Operation<Dual<double>>> in_duals{};
  std::unique_ptr<const Operation<Dual<PrimeField>>> in_duals_of_field{};
  bool leaf, rowwise, autoregressive, constant, called_alike, takes_temporaries, form_is_known;
  std::size_t numbers_held;  ///< How many numbers a new one holds.
};

/// A number of the prime field. All that exist share `all`, which counts them. (None is moved: it would lose its share.)
struct Held : PrimeField {
  using PrimeField::PrimeField;
  Held() = default;
  Held(PrimeField number) : PrimeField{number} {}
  Held(const Held&) = default;
  Held& operator=(const Held&) = default;

  inline static const std::shared_ptr<const int> all = std::make_shared<const int>(0);
  std::shared_ptr<const int> share = all;
};
/// How many numbers a new T holds.
template <class T>
std::size_t numbers_held() {
  const auto before = Held::all.use_count();
  [[maybe_unused]] const T layer;
  return std::size_t(Held::all.use_count() - before);
}

/// What is checked of a layer.
template <template <class> class Layer>
CheckedLayer checked_layer(std::string_view name) {
  using T = Layer<double>;
  return {subject<Layer, all_faces>(name),
          operation<Layer<Dual<double>>>(name),
          operation<Layer<Dual<PrimeField>>>(name),
          rules::Leaf<T>,
          rowwise<T>,
          autoregressive<T>,
          constant<T>,
          rowwise<T> == rowwise<Layer<float>> && autoregressive<T> == autoregressive<Layer<float>> &&
              constant<T> == constant<Layer<float>>,
          rules::Leaf<T> && TakesTemporaries<T>,
          FormIsKnown<T>,
          numbers_held<Layer<Held>>()};
}

}  // namespace tlm::checking
