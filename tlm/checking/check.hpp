// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/algebra/rules.hpp>
#include <tlm/checking/extension.hpp>
#include <tlm/checking/gradients.hpp>
#include <tlm/checking/pullbacks.hpp>
#include <tlm/checking/report.hpp>
#include <tlm/checking/stacks.hpp>
#include <tlm/checking/transposes.hpp>
#include <tlm/checking/verdicts.hpp>
#include <tlm/matrix/refuse.hpp>

namespace tlm {

namespace checking {

/// The check of one layer, which writes its report.
template <template <class> class Layer>
class Check {
 public:
  Check(std::string_view name, const Limits& limits)
      : name_{name}, limits_{limits}, up_to_{", n ≤ " + std::to_string(limits.rows)}, report_{name} {
    if (limits.rows < 1 || limits.rows > 31)
      refuse<std::invalid_argument>({"a layer is checked on 1 to 31 rows, not on ", limits.rows});
  }

  /// All that applies to what the layer's type says of it.
  Report report() {
    const UnsetEntries are_seen;
    PrimeField::key = 11;
    report_.note(name_ + " was run on numbers drawn at random, from fixed seeds, where nothing else is said");
    report_.note(name_ + " has " + weights());
    held();
    claims();
    stacked_sequences();
    pullbacks();
    if constexpr (autoregressive<T>) extensions();
    return std::move(report_);
  }

 private:
  using T = Layer<double>;

  /// The weights that the layer visits.
  static std::string weights() {
    std::string list;
    T layer;
    for (const auto& weight : named_weights(layer))
      list += (list.empty() ? "the weights " : ", ") + weight.path + " (" + std::to_string(weight.rows) + "×" +
              std::to_string(weight.cols) + ")";
    return list.empty() ? "no weights" : list;
  }

  /// A weight that is not visited would be neither initialized nor trained nor checked: so all numbers are counted.
  void held() {
    const std::string statement = "`weights` visits every number that a new " + name_ + " holds";
    add(statement, [&]() -> std::optional<Failure> {
      const std::size_t before = Held::Counted::count;
      Layer<Held> layer;
      const std::size_t held = Held::Counted::count - before;
      std::size_t visited = 0;
      for (const auto& weight : parameters(layer)) visited += weight.size();
      if (held == visited) return std::nullopt;
      return Failure{.claim = "a layer holds its weights and no other numbers",
                     .layer = name_,
                     .arithmetic = "",
                     .left = {"it holds", std::to_string(held) + " numbers"},
                     .right = {"`weights` visits", weights() + ": " + std::to_string(visited)},
                     .remark =
                         "what is not visited is neither initialized nor trained nor checked; a constant is made where "
                         "it is used"};
    });
  }

  /// Adds the statement, which holds if `check()` finds no failure and throws nothing.
  template <class Statement>
  void add(const std::string& statement, const Statement& check) {
    try {
      report_.checked(statement, check());
    } catch (const Thrown& thrown) {
      report_.checked(statement, thrown.failure());
    } catch (const std::exception& thrown) {
      report_.checked(statement, Failure{.claim = statement,
                                         .layer = name_,
                                         .arithmetic = "",
                                         .remark = std::string("it throws: ") + thrown.what()});
    }
  }

  void claims() {
    constexpr const char* is[] = {" is rowwise: ", " is autoregressive: "};
    if constexpr (constant<T>) {
      const std::string claim = name_ + " does not depend on X: ";
      add(claim + "double within 1e-12" + up_to_, [&] { return compare_inputs<Layer, double>(name_, 1, limits_); });
      add(claim + "float and double to the last bit, with " + spoilt_ + " in X" + up_to_, [&] {
        const auto found = compare_inputs<Layer, float>(name_, 2, limits_, SameBits{});
        return found ? found : compare_inputs<Layer, double>(name_, 3, limits_, SameBits{});
      });
      add(claim + "the prime field, exactly" + up_to_,
          [&] { return compare_inputs<Layer, PrimeField>(name_, 11, limits_); });
      if constexpr (!reads_tokens<T>)
        add(claim + "sets of positions, for every input and all weights of this shape" + up_to_,
            [&] { return trace_positions<Layer>(name_, Sees::nothing, limits_); });
    } else {
      if constexpr (rowwise<T>)
        claim(Claim::rowwise, is[0]);
      else
        not_claimed(Claim::rowwise, "rowwise");
      if constexpr (autoregressive<T>)
        claim(Claim::autoregressive, is[1]);
      else
        not_claimed(Claim::autoregressive, "autoregressive");
    }
  }

  /// What the type says: one line for each arithmetic.
  void claim(Claim claim, const char* is) {
    const std::string hidden = claim == Claim::rowwise ? "all other rows" : "the rows behind i";
    add(name_ + is + "double within 1e-12" + up_to_,
        [&] { return compare_parts<Layer, double>(name_, claim, 1, limits_); });
    add(name_ + is + "float and double to the last bit at one n, with " + spoilt_ + " in " + hidden + up_to_, [&] {
      const auto found = spoil_other_rows<Layer, float>(name_, claim, 2, limits_);
      return found ? found : spoil_other_rows<Layer, double>(name_, claim, 3, limits_);
    });
    add(name_ + is + "the prime field, exactly" + up_to_, [&] {
      PrimeField::key = 11;
      const auto found = compare_parts<Layer, PrimeField>(name_, claim, 11, limits_);
      PrimeField::key = 12;
      return found ? found : compare_parts<Layer, PrimeField>(name_, claim, 12, limits_);
    });
    if constexpr (!reads_tokens<T>)
      add(name_ + is + "sets of positions at one n, for every input and all weights of this shape" + up_to_, [&] {
        return trace_positions<Layer>(name_, claim == Claim::rowwise ? Sees::no_other : Sees::the_past, limits_);
      });
  }

  /// What the type does not say: of a leaf it must not be so, as a leaf is to declare what it is. Of what is composed the
  /// rules may know less than is so.
  void not_claimed(Claim claim, const std::string& called) {
    const std::string statement = name_ + " is not called " + called;
    std::optional<Failure> found;
    try {
      found = verdict<Layer>(name_, claim, limits_).failure();
    } catch (const std::exception&) {
      return report_.note(statement + "; whether it is so could not be seen, as it throws");
    }
    if (found) {
      std::string where = found->arithmetic;
      if (found->n) where += " at n = " + std::to_string(*found->n);
      if (found->i) where += ", i = " + std::to_string(*found->i);
      report_.note(statement + ", and is not: " + found->claim + " falls over " + where);
    } else if (Leaf<T>) {
      const std::string declared = autoregressive<T> ? "autoregressive" : "unrestricted";
      report_.checked(
          statement, Failure{.claim = "a leaf declares what it is",
                             .layer = name_,
                             .arithmetic = "",
                             .remark = "declared " + declared + ", though as far as running can tell it is " + called});
    } else {
      report_.note(statement + ", though as far as running can tell it is" + up_to_);
    }
  }

  void stacked_sequences() {
    const std::string claim = "the sequences of a stack do not affect each other: ";
    add(claim + "double within 1e-12, stacks of 2 and of 5",
        [&] { return compare_stack<Layer, double>(name_, 1, limits_); });
    add(claim + "float and double to the last bit, with " + spoilt_ + " in another, stacks of 2 and of 3", [&] {
      const auto found = spoil_other_sequences<Layer, float>(name_, 2, limits_);
      return found ? found : spoil_other_sequences<Layer, double>(name_, 3, limits_);
    });
    add(claim + "the prime field, exactly, stacks of 2 and of 5",
        [&] { return compare_stack<Layer, PrimeField>(name_, 11, limits_); });
    if constexpr (!reads_tokens<T>)
      add(claim + "sets of sequences, for every input and all weights of this shape, stacks of 2 and of 3",
          [&] { return trace_sequences<Layer>(name_, limits_); });
  }

  void pullbacks() {
    add("value_and_pullback(X) begins with T(X): double within 1e-12",
        [&] { return value_fails<Layer, double>(name_, 1, limits_); });
    add("value_and_pullback(X) begins with T(X): the prime field, exactly",
        [&] { return value_fails<Layer, PrimeField>(name_, 21, limits_); });
    if (nothing_moves())
      return report_.note(name_ + " has no weights and reads tokens: there is nothing by which to differentiate");
    // What is required of it apart from the derivative comes first, as it names a mistake more closely.
    add("the pullback is linear: the prime field, exactly",
        [&] { return pullback_fails<Layer, PrimeField>(name_, Requirement::linear, 2, limits_); });
    add("the pullback adds to the gradient: the prime field, exactly",
        [&] { return pullback_fails<Layer, PrimeField>(name_, Requirement::adds, 2, limits_); });
    add("the pullback can be applied again: the prime field, exactly, and double to the last bit", [&] {
      const auto found = pullback_fails<Layer, PrimeField>(name_, Requirement::again, 2, limits_);
      return found ? found : pullback_fails<Layer, double>(name_, Requirement::again, 2, limits_);
    });
    if constexpr (Leaf<T> && TakesTemporaries<T>)
      add("the pullback does not refer to the weights of " + name_ +
              ", which may be a temporary: the prime field, exactly",
          [&] { return pullback_fails<Layer, PrimeField>(name_, Requirement::outlives, 2, limits_); });
    add("the pullback is the transpose of the derivative: dual numbers of the prime field, exactly",
        [&] { return transpose_fails<Layer, PrimeField>(name_, 21, limits_); });
    add("the pullback is the transpose of the derivative: dual numbers of double, within 1e-12",
        [&] { return transpose_fails<Layer, double>(name_, 1, limits_); });
    add("the pullback agrees with central differences, entry by entry: double, within 1e-6",
        [&] { return gradient_fails<Layer>(name_, 1, limits_); });
    if constexpr (autoregressive<T> && !reads_tokens<T>)
      add(std::string(rowwise<T> ? "row i of X̄ depends on no row of Ȳ but i"
                                 : "the pullback is anti-causal: row i of X̄ depends on no row of Ȳ before i") +
              ": sets of positions, for every input and all weights of this shape" + up_to_,
          [&] {
            return anti_causality_fails<Layer>(name_, rowwise<T> ? Claim::rowwise : Claim::autoregressive, limits_);
          });
  }

  void extensions() {
    const std::string claim = "extending in pieces gives the rows of the whole, however split: ",
                      scope = up_to_ + (limits_.rows >= 3 ? " and a stack of 3 and 2 rows" : "");
    add(claim + "double within 1e-12" + scope, [&] { return extension_fails<Layer, double>(name_, 1, limits_); });
    add(claim + "the prime field, exactly" + scope,
        [&] { return extension_fails<Layer, PrimeField>(name_, 11, limits_); });
    if constexpr (!reads_tokens<T>)
      add(claim + "sets of positions" + scope, [&] { return extension_fails<Layer, Positions>(name_, 0, limits_); });
  }

  /// Whether there is neither a weight nor an input that is a real number.
  static bool nothing_moves() {
    T layer;
    return reads_tokens<T> && parameters(layer).empty();
  }

  std::string name_;
  Limits limits_;
  std::string up_to_;
  std::string spoilt_ = reads_tokens<T> ? "other tokens" : "other numbers, NaN, ±∞ and great numbers";
  Report report_;
};

/// The condition under which the weights of a layer over `Real` are of these numbers, too. A failure shows both.
template <class Real, class Layer>
struct WeightsAreOf {
  static constexpr bool value = [] {
    bool same = true;
    visit_weights<Layer>(
        [&](const Name&, auto& weight) {
          same = same && std::is_same_v<typename std::remove_cvref_t<decltype(weight)>::Real, Real>;
        },
        imaginary<Layer>);
    return same;
  }();
  static_assert(value, "a layer's weights are of the numbers that it computes with: as in tlm::Row<d, Real> a;");
};

}  // namespace checking

/// Checks a layer of one's own in all the ways in which the layers of the library are checked: that it is what its type
/// says (rowwise, autoregressive, independent of X) and, of a leaf, no more than that; that the sequences of a stack do not
/// affect each other; that its pullback is the transpose of its derivative, linear, adds to the gradient and can be applied
/// again; and that extending it piece by piece gives the rows of the whole.
///
/// `Layer` is a template over the real numbers, as it runs over other arithmetics, too (tlm/checking/prime_field.hpp,
/// positions.hpp, dual.hpp); a layer with further parameters is given by an alias template:
///
///     template <class Real>
///     using Mine = MyLayer<6, Real>;
///
///     int main() {
///       const auto report = tlm::check<Mine>("MyLayer");
///       std::cout << report;
///       return report.holds() ? 0 : 1;
///     }
///
/// Each line of the report says over which numbers and how many rows it was checked. A check ends with its first
/// counter-example; that of a claim about rows is the smallest, as n and i are run through in order. A layer that reads a
/// memory is checked as checking::WithMemory<Layer<Real>> (in_memory.hpp). Throws std::invalid_argument for limits of no
/// rows, or of more than 31, for which the sets of positions have no room.
template <template <class> class Layer>
Report check(std::string_view name = symbol_of<Layer<double>>(), const checking::Limits& limits = {}) {
  constexpr bool over_all_numbers = !std::is_same_v<Layer<float>, Layer<double>>;
  static_assert(over_all_numbers,
                "what is checked runs over several kinds of numbers: a template over them hands its argument on, as in "
                "template <class Real> using Small = MyLayer<6, 7, Real>");
  if constexpr (over_all_numbers) {
    if constexpr (checking::WeightsAreOf<double, Layer<double>>::value) {
      static_assert(IsLayer<Layer<double>>::value);
      if constexpr (tlm::Layer<Layer<double>>) return checking::Check<Layer>{name, limits}.report();
    }
  }
  return Report{name};
}

/// False, for every type: a type is no template.
template <class T>
inline constexpr bool is_a_template_over_the_numbers = false;

/// What is checked is a template: a type alone is refused, with a sentence.
template <class T>
Report check(std::string_view name = "T", const checking::Limits& = {}) {
  static_assert(
      is_a_template_over_the_numbers<T>,
      "what is checked runs over several kinds of numbers: give a template over them, as in template <class Real> "
      "using Small = MyLayer<6, 7, Real>; tlm::check<Small>()");
  return Report{name};
}

}  // namespace tlm
