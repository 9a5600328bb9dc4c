// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <stdexcept>

#include <tlm/base/language.hpp>
#include <tlm/base/refuse.hpp>

/// Schedules: the learning rate η(t) of step t = 1, 2, …, as a value that is called with t.
namespace tlm {

/// The schedule of Attention Is All You Need (section 5.3), in which w steps warm up:
///
///   η(t) = d^(−1/2) · min(t^(−1/2), t·w^(−3/2)).
///
/// It rises in a straight line to (dw)^(−1/2) at t = w, where both terms are equal, and then falls as 1/√t.
struct WarmUp {
  std::size_t d_model = 512;     ///< d ≥ 1
  std::uint64_t warm_up = 4000;  ///< w ≥ 1

  /// Throws std::invalid_argument if d or w is 0.
  double operator()(std::uint64_t t) const {
    if (d_model == 0 || warm_up == 0)
      refuse<std::invalid_argument>(
          {d_model == 0 ? "d_model" : "warm_up", " of the schedule WarmUp must be at least 1, not 0"});
    const double rising = double(t) / (double(warm_up) * std::sqrt(double(warm_up))),
                 falling = 1 / std::sqrt(double(t));
    return std::min(falling, rising) / std::sqrt(double(d_model));
  }
};

/// From 0 up to the maximum rate in w steps, in a straight line; then half a cosine down to the minimum rate. The rate
/// reaches it at step T, and stays there:
///
///   η(t) = maximum · t/w                                                       for t < w,
///   η(t) = minimum + (maximum − minimum) · (1 + cos(π(t−w)/(T−w)))/2           for w ≤ t ≤ T,
///   η(t) = minimum                                                             for T ≤ t.
///
/// (Loshchilov and Hutter, 2017, equation 5: one period. The line before it is added.)
struct Cosine {
  double maximum;             ///< Finite.
  double minimum;             ///< 0 < minimum ≤ maximum
  std::uint64_t warm_up = 0;  ///< w < T; with 0 there is no line.
  std::uint64_t steps;        ///< T

  /// Throws std::invalid_argument for numbers out of their range.
  double operator()(std::uint64_t t) const {
    if (!(std::isfinite(maximum) && minimum > 0 && minimum <= maximum))
      refuse<std::invalid_argument>(
          {"the rates of the schedule Cosine must be finite with 0 < minimum ≤ maximum, not minimum ", minimum,
           " and maximum ", maximum});
    if (warm_up >= steps)
      refuse<std::invalid_argument>(
          {"warm_up of the schedule Cosine must be less than its steps, which are ", steps, ", not ", warm_up});
    if (t < warm_up) return maximum * double(t) / double(warm_up);
    const double done = double(std::min(t, steps) - warm_up) / double(steps - warm_up);
    return minimum + (maximum - minimum) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
};

/// An optimizer whose learning rate follows a schedule: its t-th call moves the weights with the rate η(t), whatever
/// learning rate the optimizer was made with.
///
///   Scheduled adam{Adam<Model>{}, WarmUp{.d_model = 128, .warm_up = 400}};
template <class Optimizer, class Schedule>
struct Scheduled {
  static constexpr bool has_a_rate = requires(Optimizer optimizer) { optimizer.learning_rate = 0.5; };
  static_assert(
      has_a_rate,
      "a schedule sets the learning_rate of an optimizer, and this has none: Clipped goes around Scheduled, as "
      "in Clipped{Scheduled{Adam, schedule}}");
  Optimizer optimizer;
  Schedule schedule;    ///< schedule(t) = η(t)
  std::uint64_t t = 0;  ///< The number of steps done.

  /// Throws what the schedule and the optimizer throw. A refused step does not count.
  template <class Layer, class Gradient>
  void operator()(Layer& layer, Gradient& gradient) {
    if constexpr (has_a_rate) {
      optimizer.learning_rate = schedule(t + 1);
      optimizer(layer, gradient);
      ++t;
    }
  }
};
template <class Optimizer, class Schedule>
Scheduled(Optimizer, Schedule) -> Scheduled<Optimizer, Schedule>;

}  // namespace tlm
