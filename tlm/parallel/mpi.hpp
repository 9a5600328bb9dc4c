// SPDX-License-Identifier: MIT
#pragma once

// MPI's former C++ interface is not used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <tlm/base/hash.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/parallel/threads.hpp>

/// Several processes that learn from one batch, on one machine or on several. Each takes a part of its sequences.
///
/// Every process ("rank") has the whole model, draws the same batches and takes the same steps, because the gradient is
/// the same on all of them. They send each other parts of that gradient.
namespace tlm {

/// The ranks that mpirun has started; this process is one of them, or the only one. MPI begins and ends with this
/// object. A program may have only one.
///
/// The functions that compute or send wait for all ranks to call them, in the same order. A rank that throws leaves the
/// others waiting: so the program asks all_end whether all ranks end, and otherwise calls abort.
class Ranks {
 public:
  /// Throws std::logic_error in a process that mpirun has started, if MPI has begun before.
  Ranks() {
    if (!started_as_a_rank()) return;
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun) throw std::logic_error("MPI has begun already: a program has one object of its ranks");
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    int rank = 0, count = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    rank_ = std::size_t(rank), count_ = std::size_t(count);
    MPI_Comm_dup(MPI_COMM_WORLD, &ends_);
  }
  ~Ranks() {
    if (ends_ == MPI_COMM_NULL) return;
    MPI_Comm_free(&ends_);
    MPI_Finalize();
  }
  Ranks(Ranks&&) = delete;

  /// The number of this rank: 0, …, count() − 1.
  std::size_t rank() const { return rank_; }
  std::size_t count() const { return count_; }
  /// True for rank 0, which prints and saves.
  bool is_first() const { return rank_ == 0; }

  /// Each of these numbers becomes its sum over all ranks, added in their order: the same bits on all of them. The
  /// spans have the same lengths on all ranks, in the same order. Each rank adds up N/P of N numbers: P − 1 others send
  /// it theirs, and it sends them the sums. So 2(P − 1)/P·N numbers leave each rank, in pieces.
  template <class Real>
  void sum(const std::vector<std::span<Real>>& numbers) {
    if (count_ == 1) return;
    std::vector<Real> all, of_all;
    std::size_t size = count_ - 1;
    for (const std::span<Real> some : numbers) size += some.size();
    all.reserve(size);
    for (const std::span<Real> some : numbers) all.insert(all.end(), some.begin(), some.end());
    all.resize(size / count_ * count_);  // equally many for each rank
    for (std::span<Real> left{all}; !left.empty();) {
      const std::size_t share = std::max<std::size_t>(1, std::min(at_once, left.size()) / count_);
      const auto piece = left.first(share * count_);
      left = left.subspan(piece.size());
      of_all.resize(piece.size());
      const int bytes = int(share * sizeof(Real));
      MPI_Alltoall(piece.data(), bytes, MPI_BYTE, of_all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
      for (std::size_t r = 1; r < count_; ++r)
        for (std::size_t e = 0; e < share; ++e) of_all[e] += of_all[r * share + e];
      MPI_Allgather(of_all.data(), bytes, MPI_BYTE, piece.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    auto next = all.cbegin();
    for (const std::span<Real> some : numbers) {
      std::copy_n(next, some.size(), some.begin());
      next += std::ptrdiff_t(some.size());
    }
  }
  /// At most this many numbers are sent in a piece.
  static constexpr std::size_t at_once = 1 << 20;

  /// True if `here` is true on any rank.
  bool any(bool here) { return !alike(here) || here; }

  /// True if all ranks have the same number.
  bool alike(std::uint64_t number) {
    if (count_ == 1) return true;
    std::uint64_t greatest[] = {number, ~number};  // where the least number is, ~number is the greatest
    MPI_Allreduce(MPI_IN_PLACE, greatest, int(std::size(greatest)), MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return greatest[0] == ~greatest[1];
  }

  /// The number of rank 0.
  double of_first(double number) {
    if (count_ > 1) MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return number;
  }

  /// True if all ranks end within this time. They need not be at the same place.
  bool all_end(std::chrono::milliseconds time) {
    if (count_ == 1) return true;
    MPI_Request waiting;
    MPI_Ibarrier(ends_, &waiting);
    const auto last = std::chrono::steady_clock::now() + time;
    for (int all = 0;;) {
      MPI_Test(&waiting, &all, MPI_STATUS_IGNORE);
      if (all || std::chrono::steady_clock::now() > last) return all != 0;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  /// Ends all ranks at once, with this exit code.
  [[noreturn]] void abort(int code) {
    if (ends_ != MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  std::size_t rank_ = 0, count_ = 1;
  MPI_Comm ends_ = MPI_COMM_NULL;  // Ranks wait here for the end only.
};

/// The threads of all ranks, `threads` on each, which compute losses and gradients of a model of type T.
template <class T>
class ThreadsOfRanks {
 public:
  /// Throws like Threads.
  ThreadsOfRanks(Ranks& ranks, std::size_t threads) : ranks_{ranks}, threads_{threads} {}

  /// The number of ranks, which share every batch, however small. Each shares its part among its threads.
  std::size_t count_for(std::size_t) const { return ranks_.count(); }

  /// The sum of the losses of all parts by this objective, each computed on a rank of its own. Adds their gradients to
  /// `gradient`, in the order of the ranks: the same bits on all of them. The previous content of `gradient` must be
  /// the same on all ranks, and counts once.
  ///
  /// Throws std::invalid_argument for no parts, or more than ranks. Throws std::runtime_error on all ranks unless they
  /// have the same hash of every token and loss weight, and of the first number of each weight of the model. (On machines
  /// with different files they may not.)
  /// Throws like Threads, on ranks whose part throws; then `gradient` is not the same on all of them. (SharedBatch and
  /// sum_of_weights refuse a wrong batch before, on the ranks that have it.)
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& parts, T& gradient, const Objective& objective) {
    if (parts.empty() || parts.size() > ranks_.count())
      refuse<std::invalid_argument>({ranks_.count(), " ranks cannot share ", parts.size(), " parts of a batch"});
    if (!ranks_.alike(hash_of(model)))
      refuse<std::runtime_error>(
          {"the ranks do not have the same weights: all of them must start from the same file, or seed"});
    if (!ranks_.alike(hash_of(parts)))
      refuse<std::runtime_error>({"the ranks do not have the same batch: all of them must draw it from the same data"});
    // The previous content is on all ranks, and must count once.
    if (!ranks_.is_first()) zero_grad(gradient);
    RealOf<T> loss(0);
    if (ranks_.rank() < parts.size())
      loss = loss_and_gradient(model, SharedBatch{threads_, parts[ranks_.rank()]}, gradient, objective);
    std::vector<std::span<RealOf<T>>> numbers{{&loss, 1}};
    for (const auto& weight : parameters(gradient)) numbers.emplace_back(weight.numbers, weight.size());
    ranks_.sum(numbers);
    return loss;
  }

 private:
  static std::uint64_t hash_of(const T& model) {
    std::uint64_t hash = 0;
    for (const auto& weight : parameters(model)) hash = mixed(hash, std::as_bytes(std::span{weight.numbers, 1}));
    return hash;
  }
  template <class BatchOf>
  static std::uint64_t hash_of(const std::vector<BatchOf>& parts) {
    std::uint64_t hash = 0;
    const auto add = [&hash]<std::size_t cols, class Number>(const Matrix<n, cols, Number>& X) {
      for (std::size_t s = 0; s < X.sequences().count(); ++s) hash = mixed(hash ^ X.sequences().length(s));
      hash = mixed(hash, std::as_bytes(std::span{X.data(), X.rows() * cols}));
    };
    for (const BatchOf& part : parts) {
      const auto targets = targets_of<T>(part);
      if constexpr (requires { targets.X.y; })
        add(targets.X.x), add(targets.X.y);
      else
        add(targets.X);
      add(targets.x), add(targets.omega);
    }
    return hash;
  }

  Ranks& ranks_;
  Threads<T> threads_;
};

}  // namespace tlm
