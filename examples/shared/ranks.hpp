// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>

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
/// The only rank of a program that was built without MPI. tlm::Ranks explains the functions.
struct Ranks {
  bool is_first() const { return true; }
  bool any(bool here) const { return here; }
  double of_first(double number) const { return number; }
  bool all_end(std::chrono::milliseconds) const { return true; }
  [[noreturn]] void abort(int code) const { std::_Exit(code); }
};
inline constexpr bool with_ranks = false;
#endif

/// The ranks of this program. The first call starts them.
inline Ranks& ranks() {
  static Ranks these;
  return these;
}

/// Everything that learns from a batch: this many threads on every rank.
#ifdef TLM_EXAMPLES_WITH_MPI
template <class Model>
struct Workers : tlm::ThreadsOfRanks<Model> {
  explicit Workers(std::size_t threads) : tlm::ThreadsOfRanks<Model>{ranks(), threads} {}
};
#else
template <class Model>
using Workers = tlm::Threads<Model>;
#endif

}  // namespace program
