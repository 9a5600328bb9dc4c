// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/algebra/parts.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/checking/extension.hpp>
#include <tlm/checking/gradients.hpp>
#include <tlm/checking/pullbacks.hpp>
#include <tlm/checking/report.hpp>
#include <tlm/checking/verdict.hpp>

namespace tlm {

namespace checking {

/// The check of one layer, which writes its report.
class Check {
 public:
  Check(CheckedLayer layer, const Limits& limits) : layer_{std::move(layer)}, limits_{limits} {
    if (limits.rows < 1 || limits.rows > 31)
      refuse<std::invalid_argument>({"a layer is checked on 1 to 31 rows, not on ", limits.rows});
    constexpr std::size_t most = std::numeric_limits<Token>::max();
    if (limits.vocab_size < 1 || limits.vocab_size > most)
      refuse<std::invalid_argument>(
          {"tokens are drawn from a vocabulary of 1 to ", most, ", not of ", limits.vocab_size});
  }

  /// All checks that apply to what the layer's type claims.
  Report report() {
    PrimeField::key = 11;
    report_.note(name_ + " was run on random numbers from fixed seeds, unless a line says otherwise");
    held();
    if (!layer_.called_alike)
      report_.checked(name_ + " is called the same over float and double",
                      Failure{.claim = "what a layer is called does not depend on its numbers",
                              .layer = name_,
                              .remark = "what follows is checked as the layer over double is called"});
    if (layer_.constant) {
      claim(Claim::constant, name_ + " does not depend on X: ", "X");
    } else {
      claimed_or_not(Claim::rowwise, layer_.rowwise, "rowwise", "all other rows");
      claimed_or_not(Claim::autoregressive, layer_.autoregressive, "autoregressive", "the rows after i");
      claim(Claim::of_each_sequence, "the sequences of a stack do not affect each other: ", "the others");
    }
    form();
    derivatives();
    if (layer_.autoregressive) extensions();
    large_numbers();
    return std::move(report_);
  }

 private:
  /// A weight that is not visited would be neither initialized nor trained nor checked. So all numbers are counted. A
  /// gradient is a new layer, so it begins with 0.
  void held() {
    std::string list;
    std::size_t visited = 0;
    std::set<const double*> numbers;
    const auto layer = layer_.in_double->another();
    const auto weights = layer->weights();
    for (const auto& weight : weights) {
      list += detail::sentence(
          {list.empty() ? "the weights " : ", ", weight.path, " (", weight.rows, "×", weight.cols, ")"});
      visited += weight.size();
      for (const double& w : weight) numbers.insert(&w);
    }
    if (list.empty()) list = "no weights";
    report_.note(name_ + " has " + list);
    std::optional<Failure> found;
    if (layer_.numbers_held != visited || numbers.size() != visited)
      found = {.claim = "a layer holds its weights and no other numbers",
               .layer = name_,
               .left = {"it holds", std::to_string(layer_.numbers_held) + " numbers"},
               .right = {"`weights` visits", list + ": " + std::to_string(visited)},
               .remark =
                   "what is not visited is neither initialized nor trained nor checked; a constant is made where it is "
                   "used"};
    if (found && numbers.size() != visited)
      found->right.value += ", of which " + std::to_string(numbers.size()) + " are different";
    report_.checked("`weights` visits every number that a new " + name_ + " holds", found);
    Failure not_0 = failure_of("the weights of a new layer are 0", "it is", "and not");
    not_0.layer = name_;
    report_.checked("a new " + name_ + " is 0, as a gradient is at first",
                    first_difference(
                        not_0, weights, [](auto, auto) { return 0.0; }, std::equal_to{}));
  }

  /// What the type claims: one line for each way to check it.
  void claim(Claim claim, const std::string& is, const std::string& hidden) {
    const bool at_one_n = claim == Claim::rowwise || claim == Claim::autoregressive;
    const std::string scope = claim == Claim::of_each_sequence ? ", stacks of 2 and of 5" : up_to_,
                      one_n = at_one_n ? " at one n" : "",
                      spoilt = layer_.in_sets ? "other numbers, NaN, ±∞, large numbers and 0 in " : "other tokens in ";
    const Verdict verdict = verdict_on(layer_, claim, limits_);
    report_.checked(is + "double within 1e-12" + scope, verdict.reals);
    report_.checked(is + "float and double to the last bit" + one_n + ", with " + spoilt + hidden + scope,
                    verdict.bits);
    report_.checked(is + "the prime field, exactly" + scope, verdict.field);
    if (layer_.in_sets)
      report_.checked(
          is + "sets of positions" + one_n + ", for all inputs and weights of this shape without overflow" + scope,
          verdict.sets);
  }

  /// What the type claims, or does not claim. What it does not claim may hold all the same: neither the rules nor a run
  /// know everything.
  void claimed_or_not(Claim what, bool claimed, const std::string& called, const std::string& hidden) {
    if (claimed) return claim(what, name_ + " is " + called + ": ", hidden);
    const std::string statement = name_ + " is not called " + called;
    auto verdict = verdict_on(layer_, what, limits_);
    verdict.sets.reset();  // they see what a number may depend on
    const auto found = verdict.failure();
    if (found && !found->remark.empty())
      return report_.note(statement + "; whether it is so could not be seen, as " + found->remark);
    if (!found) return report_.note(statement + ", though as far as running can tell it is" + up_to_);
    std::string where = found->arithmetic + " at n = " + std::to_string(*found->n);
    if (found->i) where += ", i = " + std::to_string(*found->i);
    report_.note(statement + ", and is not: " + found->claim + " fails over " + where);
  }

  /// The layer computes what its form says.
  void form() {
    if (layer_.leaf) return;
    if (!layer_.form_is_known)
      return report_.note("whether " + name_ +
                          " computes what its form says was not checked: the checks know no formula for that form");
    const auto on = [](const Trial<PrimeField>& at) {
      return first_difference(at.failure, (*at.layer)(at.X), at.layer->by_form(at.X));
    };
    report_.checked(
        name_ + " is what its form says: the prime field, exactly, stacks of up to 5",
        on_stacks<PrimeField>(*layer_.in_field,
                              failure_of("a layer computes what its form says", "T(X) is", "by its form it is"), 31,
                              stacks_of_pullbacks(limits_), limits_, on));
  }

  void derivatives() {
    const std::string scope = ", stacks of up to 5 sequences of 0 to " + std::to_string(limits_.rows) + " rows";
    const auto& in_field = *layer_.in_field;
    const auto& in_double = *layer_.in_double;
    const auto fails_in_double = value_fails(in_double, 1, limits_),
               fails_in_field = value_fails(in_field, 21, limits_);
    report_.checked("value_and_pullback(X) begins with T(X): double within 1e-12" + scope, fails_in_double);
    report_.checked("value_and_pullback(X) begins with T(X): the prime field, exactly" + scope, fails_in_field);
    if (fails_in_double || fails_in_field)
      return report_.note("the pullback of " + name_ + " was not checked, as this fails");
    const bool reads_numbers = layer_.in_sets || (in_field.source.cols > 0 && !in_field.source.of_tokens);
    if (!reads_numbers && in_field.another()->weights().empty())
      return report_.note(name_ +
                          " has no weights and reads tokens: there is nothing with respect to which to differentiate");
    // Requirements other than the derivative come first, because they name a mistake more closely.
    report_.checked("the pullback is linear: the prime field, exactly" + scope,
                    pullback_fails(in_field, Requirement::linear, 2, limits_));
    report_.checked("the pullback adds to the gradient: the prime field, exactly" + scope,
                    pullback_fails(in_field, Requirement::adds, 2, limits_));
    const auto again = pullback_fails(in_field, Requirement::again, 2, limits_);
    report_.checked("the pullback can be applied again: the prime field, exactly, and double to the last bit" + scope,
                    again ? again : pullback_fails(in_double, Requirement::again, 2, limits_));
    if (layer_.takes_temporaries)
      report_.checked("the pullback does not refer to the weights of " + name_ +
                          ", which may be a temporary: the prime field, exactly" + scope,
                      pullback_fails(in_field, Requirement::outlives, 2, limits_));
    report_.checked("the pullback is the transpose of the derivative: dual numbers of the prime field, exactly" + scope,
                    transpose_fails(in_field, *layer_.in_duals_of_field, 21, limits_));
    report_.checked(
        "the pullback is the transpose of the derivative: dual numbers of double, within 1e-12, at zeros, too" + scope,
        transpose_fails(in_double, *layer_.in_duals, 1, limits_));
    report_.checked(
        "the pullback agrees with central differences, entry by entry: double, within 1e-6, a row, and a stack of " +
            shown(stacks_of_differences(limits_).back()),
        gradient_fails(in_double, 1, limits_));
    report_.checked(
        "value and pullback in float are those in double, within a thousandth of the largest number or of 1" + scope,
        float_differs(*layer_.in_float, in_double, 2, limits_));
    if (layer_.autoregressive && layer_.in_sets)
      report_.checked(
          (layer_.rowwise ? "row i of X̄ depends on no row of Ȳ but i"
                          : "the pullback is anti-causal: row i of X̄ depends on no row of Ȳ before i") +
              (": sets of positions, for all inputs and weights of this shape without overflow" + up_to_),
          anti_causality_fails(*layer_.in_sets, layer_.rowwise ? Claim::rowwise : Claim::autoregressive, limits_));
  }

  void extensions() {
    std::string scope = limits_.rows > split_in_all_ways ? ", in all ways for n ≤ 6, in two and one by one beyond" : "";
    scope += up_to_ + (limits_.rows >= 3 ? " and a stack of 3 and 2 rows" : "");
    const std::string statement = "extending in pieces gives the rows of the whole, however split: ";
    report_.checked(statement + "double within 1e-12" + scope, extension_fails(*layer_.in_double, 1, limits_));
    report_.checked(statement + "the prime field, exactly" + scope, extension_fails(*layer_.in_field, 11, limits_));
    if (layer_.in_sets)
      report_.checked(statement + "sets of positions" + scope, extension_fails(*layer_.in_sets, 0, limits_));
  }

  /// Notes where T(X) is not finite though X is, and its entries are large.
  void large_numbers() {
    if (!layer_.in_sets) return;
    Generator generator{3};
    const auto layer = drawn(*layer_.in_double, generator);
    auto X = draw_input(*layer, Sequences{limits_.rows}, generator, limits_);
    const auto is_finite = [&] {
      const auto Y = (*layer)(X);
      return std::all_of(Y.numbers.begin(), Y.numbers.end(), [](double y) { return std::isfinite(y); });
    };
    try {
      if (!is_finite()) return;
      for (double& x : X.target.numbers) x *= 2000;
      if (!is_finite())
        report_.note(name_ + " is not finite everywhere: double, for an X with entries of up to 2000 in size" + up_to_);
    } catch (const std::exception&) {
    }
  }

  CheckedLayer layer_;
  std::string name_ = layer_.in_double->name;
  Limits limits_;
  std::string up_to_ = ", n ≤ " + std::to_string(limits_.rows);
  Report report_{name_};
};

/// The condition under which the weights of a layer over `Real` are numbers of this type. A failure shows both.
template <class Real, class Layer>
struct WeightsAreOf {
  static constexpr bool value = [] {
    bool same = true;
    detail::for_each_weight([&]<class W>(const Name&, W&) { same = same && std::is_same_v<typename W::Real, Real>; },
                            detail::imaginary<Layer>);
    return same;
  }();
  static_assert(value, "a layer's weights are of the numbers that it computes with: as in tlm::Row<d, Real> a;");
};

/// The condition under which a layer returns rows of numbers. Checks need that. A failure shows the layer.
template <class T>
struct ReturnsRows {
  static constexpr bool value = shape_of<typename T::codomain>().cols > 0;
  static_assert(value,
                "tlm::check runs layers that return rows of numbers: a kernel is checked in a product A(X)×B(X), where "
                "its rows are used");
};

}  // namespace checking

/// Checks your own layer in all the ways in which the layers of the library are checked:
///
///   - it is what its type says (rowwise, autoregressive, independent of X), and computes what its form says;
///   - the sequences of a stack do not affect each other, unless it is independent of X;
///   - its pullback is the transpose of its derivative, linear, adds to the gradient, can be applied again, refers to
///     neither X nor Y, and is in float what it is in double;
///   - a new one is 0, and `weights` visits all that it holds;
///   - if it is autoregressive, extending it piece by piece gives the rows of the whole, and a copy of its state is a state
///     of its own.
///
/// `Layer` is a template over its numbers, because it also runs over other arithmetics (tlm/checking/prime_field.hpp,
/// dependencies.hpp, dual.hpp). For a layer with further parameters, pass an alias template:
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
/// Each line of the report tells over which numbers and how many rows it was checked. A check ends with its first
/// counter-example. For a claim about rows that is the smallest one, because n and i run through their values in order.
/// A layer that reads a memory M with d columns is checked as (M, X) ↦ Layer(X), an EncoderDecoder<Identity<d, Real>,
/// Layer<Real>>. With two of them side by side, in a Concat, it is seen whether the pullback adds to M̄.
///
/// Some errors could still pass: one that begins after the rows that were looked at (a seventh row, a sixth sequence),
/// and one that shows only at numbers that are not drawn. So could a layer that depends on its address, on how often it
/// was called, on the thread or on the time. So could one that holds numbers of another type than Real, a template that
/// asks which numbers it runs over, and a layer that computes something else for an X that is moved into it. What a layer
/// does with noise is not checked. A part whose form is none of ∘, stack, + and Concat is taken as it is where its whole
/// is compared with its form.
///
/// A layer of tokens knows those from 0 to limits.vocab_size − 1, of which sequences are drawn. Throws
/// std::invalid_argument for limits of 0, or of more than 31 rows: there is room for 32 in the sets of positions.
template <template <class> class Layer>
Report check(std::string_view name = detail::symbol_of<Layer<double>>(), const checking::Limits& limits = {}) {
  constexpr bool over_all_numbers = !std::is_same_v<Layer<float>, Layer<double>>;
  static_assert(over_all_numbers,
                "what is checked runs over several kinds of numbers: a template over them hands its argument on, as in "
                "template <class Real> using Small = MyLayer<6, 7, Real>");
  if constexpr (over_all_numbers) {
    using T = Layer<double>;
    if constexpr (checking::WeightsAreOf<double, T>::value) {
      static_assert(detail::IsLayer<T>::value);
      if constexpr (tlm::Layer<T>)
        if constexpr (checking::ReturnsRows<T>::value)
          return checking::Check{checking::checked_layer<Layer>(name), limits}.report();
    }
  }
  return Report{name};
}

/// Only a template can be checked. A type alone is refused with a sentence.
template <class T>
Report check(std::string_view name = "T", const checking::Limits& = {}) {
  static_assert(
      sizeof(T) == 0,  // false
      "what is checked runs over several kinds of numbers: give a template over them, as in template <class Real> "
      "using Small = MyLayer<6, 7, Real>; tlm::check<Small>()");
  return Report{name};
}

}  // namespace tlm
