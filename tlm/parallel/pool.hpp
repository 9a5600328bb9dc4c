// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/function_ref.hpp>

namespace tlm {

/// Threads that live as long as this object, and sleep where there is nothing to do.
class Pool {
 public:
  /// That many, with the one that asks. Throws std::invalid_argument for 0.
  explicit Pool(std::size_t count) {
    if (count == 0) refuse<std::invalid_argument>({"0 threads compute nothing: at least 1 is needed"});
    for (std::size_t k = 1; k < count; ++k) others_.push_back(std::make_unique<Other>());
  }

  /// How many there are, with the one that asks.
  std::size_t count() const { return others_.size() + 1; }

  /// action(k) for each k < shares, at once; k = 0 on the thread that asks. Returns when all are done, and then throws what the
  /// first share has thrown that throws. Throws std::invalid_argument at once for more shares than count().
  void at_once(std::size_t shares, FunctionRef<void(std::size_t)> action) {
    if (shares > count()) refuse<std::invalid_argument>({shares, " shares are too many for ", count(), " threads"});
    for (std::size_t k = 1; k < shares; ++k) others_[k - 1]->start(action, k);
    std::exception_ptr thrown;
    try {
      if (shares > 0) action(0);
    } catch (...) {
      thrown = std::current_exception();
    }
    for (std::size_t k = 1; k < shares; ++k) {
      const std::exception_ptr another = others_[k - 1]->finish();
      if (!thrown) thrown = another;
    }
    if (thrown) std::rethrow_exception(thrown);
  }

 private:
  /// A thread that does its share of what it is given.
  class Other {
   public:
    Other()
        : thread_{[this] {
            for (;;) {
              wait_for(begin_);
              if (!action_) return;
              try {
                (*action_)(share_);
              } catch (...) {
                thrown_ = std::current_exception();
              }
              end_.release();
            }
          }} {}
    Other(Other&&) = delete;
    ~Other() {
      action_.reset();
      begin_.release();
    }
    void start(FunctionRef<void(std::size_t)> action, std::size_t share) {
      action_ = action;
      share_ = share;
      begin_.release();
    }
    /// What was thrown, if anything was.
    std::exception_ptr finish() {
      wait_for(end_);
      return std::exchange(thrown_, nullptr);
    }

   private:
    /// Waits actively for a moment, then sleeps: a thread that has slept may be given the processor of the one that woke it, and
    /// then each waits for the other.
    static void wait_for(std::binary_semaphore& event) {
      for (int time = 0; time < 1'000; ++time) {
        if (event.try_acquire()) return;
        std::this_thread::yield();
      }
      event.acquire();
    }

    std::optional<FunctionRef<void(std::size_t)>> action_;  // none: there will be no more
    std::size_t share_ = 0;
    std::exception_ptr thrown_;
    std::binary_semaphore begin_{0}, end_{0};
    std::jthread thread_;  // the last member: it begins when all others are there, and ends before they do
  };

  std::vector<std::unique_ptr<Other>> others_;
};

}  // namespace tlm
