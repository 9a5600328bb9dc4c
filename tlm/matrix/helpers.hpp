// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <tlm/matrix/function_ref.hpp>

/// One large thing that several threads do together: a product, the heads of attention, a pass over the weights.
namespace tlm {

/// So many multiplications of a product are worth a thread that has to be asked for them. (Measured with floats on two cores, by
/// the product of 160×160 with 160×160, of which two threads do so many each: 1.4 times as fast as one, where the other thread
/// still waits actively; where it sleeps, 1/1.5.)
inline constexpr std::size_t worth_asking = 2'000'000;

/// Threads that help another with what is large. (HelpingThreads are some.)
class Helpers {
 public:
  /// So many, with the one that is helped; each of which gets `least` multiplications to do, at least.
  Helpers(std::size_t count, std::size_t least) : count_{count}, least_{std::max<std::size_t>(1, least)} {}
  Helpers(Helpers&&) = delete;
  virtual ~Helpers() = default;

  /// How many there are, with the one that is helped.
  std::size_t count() const { return count_; }
  /// Among how many of them so much is shared: `count` things, each of which takes as long as so many multiplications.
  std::size_t shares_of(std::size_t count, std::size_t multiplications) const {
    return std::clamp<std::size_t>(count * multiplications / least_, 1,
                                   std::min(count_, std::max<std::size_t>(1, count)));
  }

  /// action(k) for each k < shares, at once; k = 0 on the thread that asks. Returns when all are done, and then throws
  /// what the first share has thrown that throws; std::invalid_argument at once for more shares than count(). What is large within
  /// a share of several, nobody helps with.
  virtual void at_once(std::size_t shares, FunctionRef<void(std::size_t)> action) = 0;

 private:
  std::size_t count_, least_;
};

/// Those that help this thread; without any it is alone.
inline constinit thread_local Helpers* helpers_here = nullptr;

/// As long as it exists, the thread that made it has these helpers, or is alone.
class [[nodiscard]] Helped {
 public:
  explicit Helped(Helpers* by) : before_{std::exchange(helpers_here, by)} {}
  Helped(Helped&&) = delete;
  ~Helped() { helpers_here = before_; }

 private:
  Helpers* before_;
};

/// action(first, last) for shares of 0, …, count − 1 that together are all of them, at once if this thread has helpers and there
/// is enough for several: each of the count takes as long as so many multiplications. (A number that is set to zero counts for
/// 4, a weight moved by SGD for 8, by Adam for 24: measured with floats, 3, 6 and 23.) Else action(0, count). The shares are
/// the same for as many helpers. Throws what the first share throws that throws.
[[gnu::noinline]] inline void in_shares(std::size_t count, std::size_t multiplications,
                                        FunctionRef<void(std::size_t, std::size_t)> action) {
  const std::size_t shares = helpers_here ? helpers_here->shares_of(count, multiplications) : 1;
  if (shares == 1) return action(0, count);
  helpers_here->at_once(shares, [&](std::size_t k) { action(count * k / shares, count * (k + 1) / shares); });
}

}  // namespace tlm
