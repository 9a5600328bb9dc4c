// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

#include <examples/shared/ranks.hpp>

/// How a program that trains is stopped.
namespace program {

/// While one of these exists, Ctrl-C asks the program to stop. So does `kill`, with which mpirun passes Ctrl-C on. The
/// second one kills, as usual. A signal that was ignored before stays ignored.
class Interruption {
 public:
  Interruption() {
    for (Signal& each : signals_) {
      each.before = std::signal(each.number, [](int number) {
        requested_ = number;
        std::signal(number, SIG_DFL);
      });
      if (each.before == SIG_IGN) std::signal(each.number, SIG_IGN);
    }
  }
  ~Interruption() {
    for (const Signal& each : signals_) std::signal(each.number, each.before);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that asked to stop, or 0.
  static int requested() { return requested_; }

 private:
  struct Signal {
    int number;
    void (*before)(int) = SIG_DFL;
  };
  static inline volatile std::sig_atomic_t requested_ = 0;
  Signal signals_[2] = {{SIGINT}, {SIGTERM}};
};

/// Whether any process of this run was asked to stop: the same answer on all of them, once a step.
inline bool asked_to_stop() { return ranks().any(Interruption::requested() != 0); }

}  // namespace program
