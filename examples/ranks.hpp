// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>

#include <tlm/parallel/started.hpp>
#ifdef TLM_EXAMPLES_WITH_MPI
#include <tlm/parallel/mpi.hpp>
#else
#include <tlm/parallel/threads.hpp>
#endif

/// The processes and threads of a program that trains.
namespace program {

#ifdef TLM_EXAMPLES_WITH_MPI
using Ranks = tlm::Ranks;
inline constexpr bool with_ranks = true;
#else
/// The one rank of a program that was built without MPI; tlm::Ranks says what the functions mean.
struct Ranks {
  bool is_first() const { return true; }
  bool any(bool here) const { return here; }
  double of_first(double number) const { return number; }
  bool all_end(std::chrono::milliseconds) const { return true; }
  [[noreturn]] void abort(int code) const { std::_Exit(code); }
};
inline constexpr bool with_ranks = false;
#endif

/// The ranks of this program. They are there from the first call on.
inline Ranks& ranks() {
  static Ranks these;
  return these;
}

/// All that learns from a batch: so many threads on every rank.
template <class Model>
class Workers {
 public:
#ifdef TLM_EXAMPLES_WITH_MPI
  explicit Workers(std::size_t threads) : threads_{ranks(), threads} {}

  /// The batch, to be shared among them.
  template <class BatchOf>
  auto share(const BatchOf& batch) {
    return tlm::OnRanks{threads_, batch};
  }

 private:
  tlm::ThreadsOfRanks<Model> threads_;
#else
  explicit Workers(std::size_t threads) : threads_{threads} {}

  /// The batch, to be shared among them.
  template <class BatchOf>
  auto share(const BatchOf& batch) {
    return tlm::OnThreads{threads_, batch};
  }

 private:
  tlm::Threads<Model> threads_;
#endif
};

}  // namespace program
