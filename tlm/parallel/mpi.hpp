// SPDX-License-Identifier: MIT
#pragma once

// What MPI once had for C++ beside its functions for C is not used.
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

/// A batch learned from by several processes at once, on one machine or on several: each takes a part of its sequences.
///
/// Every process ("rank") has the whole model, draws the same batches and takes the same steps, as the gradient is the
/// same on all of them. What they send each other is that gradient.
namespace tlm {

/// The ranks that mpirun has started, of which this process is one; where nobody has started several, it is the only one. MPI
/// begins and ends with this object, which is the only one in a program.
///
/// Each function but rank, count and is_first waits for all ranks to call it, in the same order. One that throws in between
/// leaves the others waiting: a program asks all_end whether they end with it, and if not it calls abort.
class Ranks {
 public:
  /// Throws std::logic_error if MPI has begun before.
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
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// Which this is: 0, …, count() − 1.
  std::size_t rank() const { return rank_; }
  std::size_t count() const { return count_; }
  /// Whether this is rank 0, which prints and saves.
  bool is_first() const { return rank_ == 0; }

  /// Each of these numbers becomes its sum over all ranks, added in their order: the same bits on all of them. The spans have
  /// the same lengths on all ranks, in the same order. Of N numbers every rank adds up N/P, which it is sent by P − 1 others and
  /// sends to them: 2(P − 1)/P·N numbers go out of each. They are sent from where they lie, in pieces; of each span the last
  /// few are collected first, and so is a short span.
  template <class Real>
  void sum(const std::vector<std::span<Real>>& numbers) {
    if (count_ == 1) return;
    std::vector<Real> of_all, collected;
    std::vector<std::span<Real>> from;
    for (const std::span<Real> these : numbers) {
      from.push_back(sum_pieces(these, few, of_all));
      collected.insert(collected.end(), from.back().begin(), from.back().end());
    }
    collected.resize((collected.size() + count_ - 1) / count_ * count_);
    sum_pieces(std::span{collected}, 1, of_all);
    auto next = collected.cbegin();
    for (const std::span<Real> these : from) {
      std::copy_n(next, these.size(), these.begin());
      next += std::ptrdiff_t(these.size());
    }
  }
  /// Fewer numbers that lie together are not sent from there, and more are not sent at once.
  static constexpr std::size_t few = 1 << 12, at_once = 1 << 20;

  /// Whether it is so on any rank.
  bool any(bool here) {
    if (count_ == 1) return here;
    int so = int(here);
    MPI_Allreduce(MPI_IN_PLACE, &so, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return so != 0;
  }

  /// Whether all ranks have this same number.
  bool alike(std::uint64_t number) {
    if (count_ == 1) return true;
    std::uint64_t greatest[2] = {number, ~number};  // where the least number is, ~number is the greatest
    MPI_Allreduce(MPI_IN_PLACE, greatest, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return greatest[0] == ~greatest[1];
  }

  /// The number that rank 0 has.
  double of_first(double number) {
    if (count_ > 1) MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return number;
  }

  /// Whether all ranks come to their end within this time. They need not be at the same place.
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

  /// Ends all ranks, at once, with this exit code.
  [[noreturn]] void abort(int code) {
    if (ends_ != MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  /// Sums up numbers that lie together, as many for each rank in a piece, as long as there are so many or one for each rank.
  /// Returns those that are left. `of_all` is room for what the others send.
  template <class Real>
  std::span<Real> sum_pieces(std::span<Real> numbers, std::size_t least, std::vector<Real>& of_all) {
    while (numbers.size() >= std::max(least, count_)) {
      const std::size_t share = std::max<std::size_t>(1, std::min(at_once, numbers.size()) / count_);
      const auto piece = numbers.first(share * count_);
      numbers = numbers.subspan(piece.size());
      of_all.resize(piece.size());
      const int bytes = int(share * sizeof(Real));
      MPI_Alltoall(piece.data(), bytes, MPI_BYTE, of_all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
      for (std::size_t r = 1; r < count_; ++r)
        for (std::size_t e = 0; e < share; ++e) of_all[e] += of_all[r * share + e];
      MPI_Allgather(of_all.data(), bytes, MPI_BYTE, piece.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    return numbers;
  }

  std::size_t rank_ = 0, count_ = 1;
  MPI_Comm ends_ = MPI_COMM_NULL;  // Where no rank waits for anything but the end.
};

/// The threads of all ranks, which compute losses and gradients of a model of type T: on each so many.
template <class T>
class ThreadsOfRanks {
 public:
  /// Throws like Threads.
  ThreadsOfRanks(Ranks& ranks, std::size_t threads) : ranks_{ranks}, threads_{threads} {}

  /// Among how many ranks a batch is shared, however small; each shares what it gets among its threads.
  std::size_t count_for(std::size_t) const { return ranks_.count(); }

  /// The sum of the losses of all shards by this objective, each on a rank of its own; adds their gradients to `gradient`, in
  /// the order of the ranks: the same bits on all of them. What is there before is the same on all ranks: that of rank 0
  /// counts.
  ///
  /// Throws std::runtime_error on all ranks where they have not the same model and batch, as on machines with other files: by
  /// a hash of every token and loss weight, and of the first number of each weight of the model. Throws like Threads, on ranks
  /// whose shard throws; `gradient` then is not the same on all of them. (What SharedBatch and sum_of_weights refuse of a batch
  /// is refused before, on the ranks that have it.)
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& shards, T& gradient, const Objective& objective) {
    if (ranks_.count() == 1)
      return loss_and_gradient(model, SharedBatch{threads_, shards.front()}, gradient, objective);
    if (!ranks_.alike(hash_of(model)))
      refuse<std::runtime_error>(
          {"the ranks have not the same weights: all of them go on from the same file, or seed"});
    if (!ranks_.alike(hash_of(shards)))
      refuse<std::runtime_error>({"the ranks have not the same batch: all of them draw it from the same data, alike"});
    // What is there is on all ranks, and is to count once.
    if (!ranks_.is_first()) zero_grad(gradient);
    RealOf<T> loss(0);
    if (ranks_.rank() < shards.size())
      loss = loss_and_gradient(model, SharedBatch{threads_, shards[ranks_.rank()]}, gradient, objective);
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
  static std::uint64_t hash_of(const std::vector<BatchOf>& shards) {
    std::uint64_t hash = 0;
    const auto add = [&hash]<std::size_t cols, class Entry>(const Matrix<n, cols, Entry>& X) {
      for (std::size_t s = 0; s < X.sequences().count(); ++s) hash = mixed(hash ^ X.sequences().length(s));
      hash = mixed(hash, std::as_bytes(std::span{X.data(), X.rows() * cols}));
    };
    for (const BatchOf& shard : shards) {
      const auto targets = targets_of<T>(shard);
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
