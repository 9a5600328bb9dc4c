// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tlm/parallel/threads.hpp>
#include <tlm/tlm.hpp>

#include "../../proofs/support.hpp"
#include "../support.hpp"

using namespace tlm;
using namespace tlm::tests;
using checking::PrimeField;

namespace {

/// Of which each gets as little to do as there is.
constexpr std::size_t whatever_it_is = 1;

/// The shares of so many things, in order: "0-2 2-4".
std::string shares_among(Helpers& threads, std::size_t count, std::size_t multiplications) {
  std::set<std::string> shares;
  std::mutex one_at_a_time;
  const Helped helped{&threads};
  in_shares(count, multiplications, [&](std::size_t first, std::size_t last) {
    const std::lock_guard alone{one_at_a_time};
    shares.insert(std::to_string(first) + "-" + std::to_string(last));
  });
  std::string all;
  for (const std::string& share : shares) all += (all.empty() ? "" : " ") + share;
  return all;
}

/// A product that is computed with helpers, and alone: which parts of A, B and C it is of.
template <class Real>
struct Product {
  View<const Real> A, B;
  std::size_t rows, cols;
  Present present;

  std::vector<Real> operator()() const {
    std::vector<Real> C(rows * cols, Real(3));
    multiply(A, B, View<Real>{C.data(), rows, cols, cols}, present, Real(2));
    return C;
  }
};

/// Numbers to multiply.
template <class Real>
std::vector<Real> numbers(std::size_t count, Generator& generator) {
  std::vector<Real> drawn(count);
  for (Real& x : drawn) x = Real(generator.integer(-50, 50));
  return drawn;
}

/// Products of a matrix of rows×inner and one of inner×cols, both of which lie as rows or as columns.
template <class Real>
void compare_products(std::size_t rows, std::size_t inner, std::size_t cols) {
  CAPTURE(rows);
  CAPTURE(inner);
  CAPTURE(cols);
  Generator generator{rows + cols};
  const auto a = numbers<Real>(rows * inner, generator), b = numbers<Real>(inner * cols, generator);
  for (const bool transposed : {false, true})
    for (const Present present : {Present::overwritten, Present::added_to}) {
      const View<const Real> A{a.data(), rows, inner, inner}, A_columns{a.data(), inner, rows, rows};
      const View<const Real> B{b.data(), inner, cols, cols}, B_columns{b.data(), cols, inner, inner};
      const Product<Real> product{transposed ? A_columns.transposed() : A, transposed ? B_columns.transposed() : B,
                                  rows, cols, present};
      const auto alone = product();
      for (std::size_t count = 1; count <= 4; ++count) {
        CAPTURE(count);
        HelpingThreads threads{count, whatever_it_is};
        const Helped helped{&threads};
        CHECK(product() == alone);
      }
    }
}

constexpr Config small{.vocab_size = 9, .d_model = 40, .d_ff = 70, .n_layers = 2, .n_heads = 4, .max_len = 50};
template <class Real>
using Model = TransformerLM<small, Real>;

/// One sequence and another, neither of which is as long as what a kernel does at a time.
template <class Real>
Batch<Real> batch() {
  Generator generator{7};
  const auto drawn = [&](std::size_t length) {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < length; ++i) tokens.push_back(generator.integer(0, 8));
    return Tokens{tokens};
  };
  return unweighted<Real>(0, stack<1, Token>({drawn(37), drawn(21)}));
}

/// A bias whose one weight all heads share, and which tells whether that is touched by another thread than this.
template <class Real>
struct Everywhere {
  using declared = is::Positional;
  static inline const std::thread::id here = std::this_thread::get_id();
  static inline std::atomic<bool> elsewhere = false;
  Row<1, Real> b;

  void add(std::size_t, std::size_t i, Real* s, std::size_t visible) const {
    for (std::size_t j = 0; j < visible; ++j) s[j] += b(0, 0) * Real(int(i - j));
  }
  void pull_back(std::size_t, std::size_t i, const Real* s_bar, std::size_t visible, Everywhere& gradient) const {
    if (std::this_thread::get_id() != here) elsewhere = true;
    for (std::size_t j = 0; j < visible; ++j) gradient.b(0, 0) += s_bar[j] * Real(int(i - j));
  }
  static constexpr void weights(auto&& visit, auto&... bias) { visit("b", bias.b...); }
};

/// An objective that tells whether the thread which asks for it has helpers.
struct Telling : Mean {
  bool* helped;

  friend OneHot wanted_distribution(const Telling& telling) {
    *telling.helped = helpers_here != nullptr;
    return {};
  }
  friend Telling part_of(const Telling& telling, const float&) { return telling; }
};

}  // namespace

TEST_CASE("shares are all of it, in order, and no more than it is worth") {
  HelpingThreads one{1, 10}, three{3, 10};
  CHECK(shares_among(three, 7, 10) == "0-2 2-4 4-7");
  CHECK(shares_among(three, 2, 10) == "0-1 1-2");
  CHECK(shares_among(three, 29, 1) == "0-14 14-29");
  CHECK(shares_among(three, 19, 1) == "0-19");
  CHECK(shares_among(three, 0, 10) == "0-0");
  CHECK(shares_among(one, 7, 10) == "0-7");
  CHECK_THROWS_WITH_AS(three.at_once(4, [](std::size_t) {}), "4 shares are too many for 3 threads",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(HelpingThreads{0}, "0 threads compute nothing: at least 1 is needed", std::invalid_argument);
}

TEST_CASE("a thread has helpers as long as it is said, and within a share of several it has none") {
  HelpingThreads threads{3, whatever_it_is};
  CHECK(helpers_here == nullptr);
  {
    const Helped helped{&threads};
    threads.at_once(3, [](std::size_t) { CHECK(helpers_here == nullptr); });
    CHECK(helpers_here == &threads);
    threads.at_once(1, [&](std::size_t) { CHECK(helpers_here == &threads); });
    std::jthread{[] { CHECK(helpers_here == nullptr); }}.join();
  }
  CHECK(helpers_here == nullptr);
}

TEST_CASE("what shares throw, the first of them, is thrown where it was asked, and the threads go on") {
  HelpingThreads threads{4, whatever_it_is};
  for (std::size_t first = 0; first < 4; ++first) {
    CAPTURE(first);
    CHECK_THROWS_WITH_AS(threads.at_once(4,
                                         [&](std::size_t k) {
                                           if (k >= first) throw std::runtime_error("share " + std::to_string(k));
                                         }),
                         ("share " + std::to_string(first)).c_str(), std::runtime_error);
    std::atomic<std::size_t> done = 0;
    threads.at_once(4, [&](std::size_t) { ++done; });
    CHECK(done == 4);
  }
}

TEST_CASE("a product with 0 to 3 helpers is that of one thread, of whole numbers exactly") {
  compare_products<PrimeField>(50, 20, 33);
  compare_products<PrimeField>(17, 20, 65);
  compare_products<float>(50, 20, 33);
  compare_products<float>(17, 20, 65);
  compare_products<double>(1, 20, 100);
  compare_products<double>(100, 20, 1);
  compare_products<double>(5, 0, 40);
  compare_products<double>(0, 5, 40);
}

TEST_CASE("a model with helpers has the loss and the gradient it has alone, exactly over the prime field") {
  checking::redrawing(1, [](Generator& generator) {
    const auto model = checking::draw_layer<Model<PrimeField>>(generator);
    Model<PrimeField> alone;
    set_to_zero(alone);
    const PrimeField loss = loss_and_gradient(model, batch<PrimeField>(), alone);
    for (std::size_t count = 2; count <= 4; ++count) {
      CAPTURE(count);
      HelpingThreads threads{count, whatever_it_is};
      const Helped helped{&threads};
      Model<PrimeField> gradient;
      set_to_zero(gradient);
      CHECK(loss_and_gradient(model, batch<PrimeField>(), gradient) == loss);
      CHECK(same_bits(gradient, alone));
    }
    return true;
  });
}

TEST_CASE("a model with helpers has the loss and the gradient it has alone, within 1e-13, the same bits every time") {
  Generator generator{1};
  const auto model = random_layer<Model<double>>(generator);
  Model<double> alone, first;
  const double loss = loss_and_gradient(model, batch<double>(), alone);
  HelpingThreads threads{3, whatever_it_is};
  const Helped helped{&threads};
  CHECK(loss_and_gradient(model, batch<double>(), first) == doctest::Approx(loss).epsilon(1e-13));
  CHECK(distance_of_weights(first, alone) < 1e-13);
  for (int again = 0; again < 10; ++again) {
    Model<double> other;
    loss_and_gradient(model, batch<double>(), other);
    REQUIRE(same_bits(other, first));
  }
}

TEST_CASE("heads that share the weight of a bias give its derivative, with helpers as without") {
  using Kernel = SoftmaxKernel<4, Causal, Times<"W_Q", 8, 8, double>, Times<"W_K", 8, 8, double>, Everywhere<double>>;
  Generator generator{2};
  const auto kernel = random_layer<Kernel>(generator);
  const auto X = random_rows<Matrix<n, 8, double>>(Sequences{40}, generator);
  const auto derivative = [&] {
    Kernel gradient;
    const auto [A, pullback] = kernel.value_and_pullback(X);
    pullback(A, gradient);
    return gradient;
  };
  const Kernel alone = derivative();
  HelpingThreads threads{4, whatever_it_is};
  const Helped helped{&threads};
  CHECK(distance_of_weights(derivative(), alone) < 1e-13);
  CHECK_FALSE(Everywhere<double>::elsewhere);
}

TEST_CASE("optimizers move weights with helpers as without, and gradients are set to zero, bit for bit") {
  Generator generator{3};
  const auto gradient = random_layer<Model<float>>(generator);
  const auto start = random_layer<Model<float>>(generator);
  const auto moved = [&] {
    Model<float> model = start;
    SGD{0.1}(model, gradient);
    Adam<Model<float>> adam{.learning_rate = 0.1, .weight_decay = 0.1};
    for (int step = 0; step < 2; ++step) adam(model, gradient);
    return model;
  };
  const Model<float> alone = moved();
  HelpingThreads threads{3, whatever_it_is};
  const Helped helped{&threads};
  CHECK(same_bits(moved(), alone));
  Model<float> zero = start;
  set_to_zero(zero);
  CHECK(same_bits(zero, Model<float>{}));
}

TEST_CASE("threads help with a batch that is one part, and with what is said to be helped") {
  Generator generator{4};
  const auto model = random_layer<Model<float>>(generator);
  Threads<Model<float>> threads{2, 1}, with_one{2, 1'000};
  Model<float> gradient;
  bool helped = false;
  const Telling telling{{}, &helped};
  loss_and_gradient(model, SharedBatch{with_one, batch<float>()}, gradient, telling);
  CHECK(helped);
  CHECK(helpers_here == nullptr);
  const Helped here = threads.help();
  CHECK((helpers_here && helpers_here->count() == 2));
}
