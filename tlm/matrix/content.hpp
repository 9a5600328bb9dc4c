// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tlm/matrix/refuse.hpp>
#include <tlm/matrix/sequences.hpp>

namespace tlm {

/// Where entries begin: on a cache line, so that a product's bits do not depend on where its operands happen to lie.
inline constexpr std::size_t cache_line = 64;

/// Storage that begins on a cache line, for containers.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{cache_line}));
  }
  void deallocate(T* storage, std::size_t) { ::operator delete (storage, std::align_val_t{cache_line}); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

/// Whether floating-point entries that nobody has set are NaN, on this thread, and not what the memory held before: while a
/// layer is checked (tlm/checking/drawing.hpp), so that what reads them is seen.
inline constinit thread_local bool unset_is_nan = false;

/// All that a matrix consists of, in one piece on the heap: which rows belong to which sequence, and from the next cache line
/// on the entries, row by row.
///
/// So a matrix is one pointer, and to move it is to move that: the pullbacks of a model move dozens of them from layer to layer.
/// What was moved from is without sequences, as what was made without. What makes and ends it is compiled once for each kind of
/// numbers, and not in each of these.
template <class Real>
class Content {
 public:
  /// Without sequences.
  Content() = default;
  /// Uninitialised, in rows of `cols`. Throws std::length_error for more than any memory has.
  Content(const Sequences& sequences, std::size_t cols) : entries_{unset(sequences, size_of(sequences.rows(), cols))} {}
  /// The same number everywhere. Throws like the constructor without.
  Content(const Sequences& sequences, std::size_t cols, const Real& everywhere)
      : entries_{filled(sequences, size_of(sequences.rows(), cols), everywhere)} {}

  /// 0 everywhere, in rows of `cols`, as one sequence. Throws like the others.
  Content(std::size_t rows, std::size_t cols) : entries_{zeros(rows, size_of(rows, cols))} {}

  Content(const Content& other) : entries_{other.entries_ ? copied(other) : nullptr} {}
  Content(Content&& other) noexcept : entries_{std::exchange(other.entries_, nullptr)} {}
  Content& operator=(Content other) noexcept {
    std::swap(entries_, other.entries_);
    return *this;
  }
  ~Content() {
    if (entries_) end(entries_);
  }

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return entries_ ? head(entries_).sequences : none; }
  /// The first entry.
  Real* entries() const { return entries_; }

 private:
  struct alignas(cache_line) Head {
    Sequences sequences;
    std::size_t size;  // of the entries
  };
  static_assert(alignof(Real) <= alignof(Head));
  static constexpr std::align_val_t alignment{alignof(Head)};
  static inline constinit const Sequences none{};

  static Head& head(Real* entries) { return reinterpret_cast<Head*>(entries)[-1]; }

  /// construct(first entry) makes the entries.
  static Real* made(const Sequences& sequences, std::size_t size, const auto& construct) {
    auto* const memory = static_cast<Head*>(::operator new(sizeof(Head) + size * sizeof(Real), alignment));
    Real* const entries = reinterpret_cast<Real*>(memory + 1);
    try {
      construct(entries);
    } catch (...) {
      ::operator delete(memory, alignment);
      throw;
    }
    new (memory) Head{sequences, size};
    return entries;
  }

  [[gnu::noinline]] static Real* unset(const Sequences& sequences, std::size_t size) {
    return made(sequences, size, [&](Real* entries) {
      if constexpr (std::is_floating_point_v<Real>)
        if (unset_is_nan) std::uninitialized_fill_n(entries, size, std::numeric_limits<Real>::quiet_NaN());
      if constexpr (!std::is_trivially_default_constructible_v<Real>)
        std::uninitialized_default_construct_n(entries, size);
    });
  }
  [[gnu::noinline]] static Real* filled(const Sequences& sequences, std::size_t size, const Real& everywhere) {
    return made(sequences, size, [&](Real* entries) { std::uninitialized_fill_n(entries, size, everywhere); });
  }
  [[gnu::noinline]] static Real* zeros(std::size_t rows, std::size_t size) {
    return filled(Sequences{rows}, size, Real(0));
  }
  [[gnu::noinline]] static Real* copied(const Content& other) {
    const Head& from = head(other.entries_);
    return made(from.sequences, from.size,
                [&](Real* entries) { std::uninitialized_copy_n(other.entries_, from.size, entries); });
  }
  [[gnu::noinline]] static void end(Real* entries) {
    Head& of = head(entries);
    std::destroy_n(entries, of.size);
    of.~Head();
    ::operator delete(&of, alignment);
  }

  static std::size_t size_of(std::size_t rows, std::size_t cols) {
    if (rows > (std::numeric_limits<std::size_t>::max() - sizeof(Head)) / sizeof(Real) / cols)
      refuse<std::length_error>({"a matrix of ", rows, " rows of ", cols, " is too large"});
    return rows * cols;
  }

  Real* entries_ = nullptr;
};

}  // namespace tlm
