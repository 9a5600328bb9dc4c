// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/schedules.hpp>

#include "../support.hpp"

namespace tlm::tests::in_optimizers {

namespace {

/// X×A + K: a matrix, and what is none.
using Line = Composition<Plus<"K", 2, double>, Times<"A", 1, 2, double>>;

Line line(double a_1, double a_2, double k_1, double k_2) {
  Line line;
  weight<"A">(line) = Matrix<1, 2, double>{a_1, a_2};
  weight<"K">(line) = Matrix<1, 2, double>{k_1, k_2};
  return line;
}

/// All four numbers are these, but for rounding.
void must_be(const Line& layer, double a_1, double a_2, double k_1, double k_2) {
  CHECK(distance_of_weights(layer, line(a_1, a_2, k_1, k_2)) <= 1e-14);
}

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the paper's schedule: d^−½·min(t^−½, t·w^−3⁄2)") {
  const WarmUp eta{.d_model = 4, .warm_up = 4};
  // At t = 4 both terms are (dw)^−½.
  for (const auto& [t, rate] :
       {std::pair{0u, 0.0}, {1, 1.0 / 16}, {2, 1.0 / 8}, {4, 1.0 / 4}, {16, 1.0 / 8}, {64, 1.0 / 16}})
    CHECK(eta(t) == doctest::Approx(rate).epsilon(1e-14));
  // The paper's own: 4000 steps up to 0.0007, by which 100,000 steps end at 0.00014.
  CHECK(WarmUp{}(4000) * 1e3 == doctest::Approx(0.698771).epsilon(1e-6));
  CHECK(WarmUp{}(100'000) * 1e4 == doctest::Approx(1.39754).epsilon(2e-6));

  const std::string at_least_1 = " of the schedule WarmUp must be at least 1, not 0";
  CHECK(refusal<std::invalid_argument>([] { WarmUp{.warm_up = 0}(1); }) == "warm_up" + at_least_1);
  CHECK(refusal<std::invalid_argument>([] { WarmUp{.d_model = 0}(1); }) == "d_model" + at_least_1);
}

TEST_CASE("the cosine schedule: a line up, half a wave down, and then the least rate") {
  const Cosine eta{.maximum = 1, .minimum = 0.5, .warm_up = 4, .steps = 12};
  const double at_quarter = 0.75 + 0.25 * std::sqrt(0.5);  // of the wave: cos(π/4)
  for (const auto& [t, rate] :
       {std::pair{0u, 0.0}, {1, 0.25}, {3, 0.75}, {4, 1.0}, {6, at_quarter}, {8, 0.75}, {12, 0.5}, {1000, 0.5}})
    CHECK(eta(t) == doctest::Approx(rate).epsilon(1e-14));
  // Without a line the first step is the first of the wave.
  const Cosine wave{.maximum = 1, .minimum = 0.5, .steps = 2};
  for (const auto& [t, rate] : {std::pair{0u, 1.0}, {1, 0.75}, {2, 0.5}})
    CHECK(wave(t) == doctest::Approx(rate).epsilon(1e-14));

  for (const auto& [maximum, minimum] : {std::pair{1.0, 0.0}, {1.0, 2.0}, {infinity, 2.0}, {1.0, NaN}}) {
    const auto sentence =
        detail::sentence({"the rates of the schedule Cosine must be finite with 0 < minimum ≤ maximum, not minimum ",
                          minimum, " and maximum ", maximum});
    CHECK_THROWS_WITH_AS((Cosine{.maximum = maximum, .minimum = minimum, .steps = 2}(1)), sentence.c_str(),
                         std::invalid_argument);
  }
  CHECK_THROWS_WITH_AS((Cosine{.maximum = 1, .minimum = 1, .warm_up = 2, .steps = 2}(1)),
                       "warm_up of the schedule Cosine must be less than its steps, which are 2, not 2",
                       std::invalid_argument);
}

TEST_CASE("a scheduled optimizer takes step t with η(t), whatever its own rate is") {
  Line layer = line(0, 0, 0, 0), gradient = line(1, -1, 2, 0);
  Scheduled sgd{SGD{.learning_rate = 100}, Cosine{.maximum = 1, .minimum = 0.5, .warm_up = 4, .steps = 12}};
  sgd(layer, gradient);
  must_be(layer, -0.25, 0.25, -0.5, 0);
  sgd(layer, gradient);
  must_be(layer, -0.75, 0.75, -1.5, 0);
  CHECK(sgd.t == 2);
  sgd.t = 99;
  sgd(layer, gradient);
  must_be(layer, -1.25, 1.25, -2.5, 0);

  // Adam by a rate that stays is Adam with this rate, bit for bit.
  Line scheduled = line(1, 2, 3, 4), own = scheduled;
  Scheduled adam{Adam<Line>{}, [](std::uint64_t) { return 0.25; }};
  Adam<Line> with_the_rate{.learning_rate = 0.25};
  for (int step = 0; step < 5; ++step) {
    adam(scheduled, gradient);
    with_the_rate(own, gradient);
  }
  CHECK(distance_of_weights(scheduled, own) == 0);

  // A refused step is not counted.
  Scheduled refused{SGD{}, [](std::uint64_t t) { return t == 1 ? 0.5 : 0.0; }};
  refused(layer, gradient);
  const Line before = layer;
  CHECK_THROWS_WITH_AS(refused(layer, gradient), "the learning rate of SGD must be finite and greater than 0, not 0",
                       std::invalid_argument);
  CHECK(refused.t == 1);
  CHECK(distance_of_weights(layer, before) == 0);
}

TEST_CASE("the norm of a gradient is that of all its weights together") {
  const auto norm_of = [](auto gradient) {
    auto layer = gradient;
    Clipped clipped{SGD{.learning_rate = 1}, 1e9};
    clipped(layer, gradient);
    return clipped.norm;
  };
  CHECK(norm_of(line(3, 4, 0, 0)) == 5);
  CHECK(norm_of(line(1, -3, 1, 5)) == 6);
  CHECK(norm_of(line(0, 0, 0, 0)) == 0);
  // The norm of floats is added up in double, too: in float 2²⁴ + 1 is 2²⁴, however often 1 is added.
  Plus<"B", 1000, float> floats;
  floats.B(0, 0) = 4096;
  for (std::size_t j = 1; j < 1000; ++j) floats.B(0, j) = 1;
  CHECK(norm_of(floats) == doctest::Approx(std::sqrt(0x1p24 + 999)).epsilon(1e-12));
}

TEST_CASE("clipping: a gradient longer than the limit is scaled to it, a shorter one is not") {
  Line layer = line(0, 0, 0, 0), gradient = line(1, -3, 1, 5);  // ‖g‖ = 6
  Clipped clipped{SGD{.learning_rate = 1}, 3.0};
  clipped(layer, gradient);
  must_be(layer, -0.5, 1.5, -0.5, -2.5);
  must_be(gradient, 0.5, -1.5, 0.5, 2.5);
  CHECK(clipped.norm == 6);

  layer = line(0, 0, 0, 0), gradient = line(1, -3, 1, 5);
  for (const double limit : {6.0, 100.0}) {
    Clipped longer{SGD{.learning_rate = 1}, limit};
    Line moved = layer;
    longer(moved, gradient);
    CHECK(distance_of_weights(moved, line(-1, 3, -1, -5)) == 0);
    CHECK(longer.norm == 6);
  }

  // Around a schedule.
  Clipped both{Scheduled{SGD{}, [](std::uint64_t t) { return double(t); }}, 3.0};
  both(layer, gradient);
  gradient = line(1, -3, 1, 5);
  both(layer, gradient);
  must_be(layer, -1.5, 4.5, -1.5, -7.5);
}

TEST_CASE("a gradient that is not finite moves nothing") {
  const Line before = line(1, 2, 3, 4);
  Line layer = before;
  Clipped clipped{SGD{}, 1.0};
  for (const auto& [number, is] : {std::pair{NaN, "not a number"}, {-infinity, "infinite"}}) {
    Line bad = line(1, number, 0, 0);
    CHECK(refusal<std::runtime_error>([&] { clipped(layer, bad); }) ==
          std::string("the squared norm of the gradient is ") + is +
              ": the weights have grown too large, as they do with too large a learning rate");
  }
  CHECK(distance_of_weights(layer, before) == 0);
}

TEST_CASE("Adam in float: β is what it is rounded to, in the moments and in their corrections") {
  Times<"A", 1, 1> layer, gradient;
  weight<"A">(gradient)(0, 0) = 1;
  Adam<Times<"A", 1, 1>>{.learning_rate = 1, .beta_2 = 0.9999999}(layer, gradient);
  CHECK(weight<"A">(layer)(0, 0) == doctest::Approx(-1).epsilon(1e-6));
}

TEST_CASE("weight decay: − ηλw beside Adam's step, of matrices only") {
  // Without a gradient Adam moves nothing, and what is left is the decay.
  Line layer = line(1, -2, 3, -4);
  Adam<Line> adam{.learning_rate = 0.5, .weight_decay = 0.25};
  adam(layer, Line{});
  must_be(layer, 0.875, -1.75, 3, -4);
  adam(layer, Line{});
  must_be(layer, 0.765625, -1.53125, 3, -4);

  // With decay, it is Adam's step, and the decay of the weight before the step. The moments do not see the decay.
  const Line gradient = line(1, -1, 2, 0.5);
  Line decayed = line(1, -2, 3, -4), plain = decayed;
  Adam<Line> with{.learning_rate = 0.5, .weight_decay = 0.25}, without{.learning_rate = 0.5};
  with(decayed, gradient);
  without(plain, gradient);
  const Line step = plain;
  must_be(decayed, weight<"A">(step)(0, 0) - 0.125, weight<"A">(step)(0, 1) + 0.25, weight<"K">(step)(0, 0),
          weight<"K">(step)(0, 1));
  CHECK(distance_of_weights(with.first_moment, without.first_moment) == 0);
  CHECK(distance_of_weights(with.second_moment, without.second_moment) == 0);
  // Control: decay that goes through the gradient, λw + g, is another step. Adam's first step has the length η in any
  // case.
  Line through_the_gradient = line(1, -2, 3, -4);
  Adam<Line> coupled{.learning_rate = 0.5};
  coupled(through_the_gradient, line(1.25, -1.5, 2, 0.5));
  CHECK(distance_of_weights(through_the_gradient, plain) <= 1e-8);
  CHECK(distance_of_weights(through_the_gradient, decayed) > 0.1);
  CHECK(Adam<Line>{}.weight_decay == 0);
}

}  // namespace tlm::tests::in_optimizers
