// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <new>
#include <string_view>

// Of xtensor-blas what declares CBLAS, which goes together with the rest of it, as OpenBLAS's own header does not.
#include <xflens/cxxblas/drivers/cblas.h>

#include <tlm/matrix/view.hpp>

extern "C" {
// Of OpenBLAS alone: for which processors its kernels are; how many threads share a product; the room that a thread has while it
// multiplies; and B = alpha·A or its transpose.
char* openblas_get_corename();
void openblas_set_num_threads(int count);
void* blas_memory_alloc(int of);
void blas_memory_free(void* room);
void somatcopy_(const char* order, const char* transposition, const int* rows, const int* cols, const float* alpha,
                const float* A, const int* A_step, float* B, const int* B_step);
void domatcopy_(const char* order, const char* transposition, const int* rows, const int* cols, const double* alpha,
                const double* A, const int* A_step, double* B, const int* B_step);
}

/// How OpenBLAS is asked for a product. By that its time differs, and how sums are rounded.
namespace tlm::blas {

/// What becomes of the entries that are already there.
enum class Present { overwritten, added_to };

/// What the kernels that OpenBLAS multiplies with are for.
enum class Kernels { avx2, avx512, others };

/// Those of this processor, or of OPENBLAS_CORETYPE.
inline Kernels kernels() {
  static const Kernels known = [] {
    const std::string_view core = openblas_get_corename();
    if (core == "Haswell" || core == "Zen") return Kernels::avx2;
    if (core == "SkylakeX" || core == "Cooperlake") return Kernels::avx512;
    return Kernels::others;
  }();
  return known;
}

/// Sees to it that so many threads of the program, or 64 of more, can multiply at once; throws std::bad_alloc if there is not
/// enough memory.
///
/// OpenBLAS gives room to each while it multiplies, 32 << 22 bytes on x86-64, keeps it for the next, and takes it from the system
/// when there is none left: if that refuses, it asks again for ever. So it is tried out first. (Debian's, which is built for 128
/// threads, warns of more rooms than that; 64 stay well below.)
inline void room_for_threads(std::size_t count) {
  constexpr std::size_t size = std::size_t(32) << 22;
  void* rooms[64];
  void** const end = rooms + std::min<std::size_t>(count, 64);
  for (void** room = rooms; room < end; ++room) *room = ::operator new(size, std::nothrow);
  const bool refused = std::find(rooms, end, nullptr) < end;
  for (void** room = rooms; room < end; ++room) ::operator delete(*room);
  if (refused) throw std::bad_alloc{};
  for (void** room = rooms; room < end; ++room) *room = blas_memory_alloc(0);
  for (void** room = rooms; room < end; ++room) blas_memory_free(*room);
}

/// Several threads of the program are going to multiply at once, each on its own: in each of them OpenBLAS uses one thread, from
/// now on, and has room for it. (An OpenBLAS that was built with OpenMP listens to OMP_NUM_THREADS=1 instead, before the program
/// starts.) Throws what room_for_threads throws.
inline void multiply_on_threads(std::size_t count) {
  openblas_set_num_threads(1);
  room_for_threads(count);
}

/// C = αA×B + βC, for float and for double.
template <class Real>
inline constexpr auto gemm = cblas_sgemm;
template <>
inline constexpr auto gemm<double> = cblas_dgemm;
/// y = αA×x + βy.
template <class Real>
inline constexpr auto gemv = cblas_sgemv;
template <>
inline constexpr auto gemv<double> = cblas_dgemv;
/// B = αA or its transpose.
template <class Real>
inline constexpr auto omatcopy = somatcopy_;
template <>
inline constexpr auto omatcopy<double> = domatcopy_;

/// Whether the entries of a row lie side by side, and not those of a column. (Both steps of a matrix of one column are 1: it lies
/// as rows unless they would overlap.)
template <class Real>
bool by_rows(const View<Real>& X) {
  return X.col_step == 1 && X.row_step >= X.cols;
}
/// How far its rows, or columns, lie apart.
template <class Real>
int step(const View<Real>& X) {
  return int(by_rows(X) ? X.row_step : X.col_step);
}

/// C = factor·A×B, or C += factor·A×B, asked for at once.
template <std::floating_point Real>
[[gnu::noinline]] void multiply_at_once(View<const Real> A, View<const Real> B, View<Real> C, Present present,
                                        Real factor) {
  const auto transposition = [](const auto& X) { return by_rows(X) ? CblasNoTrans : CblasTrans; };
  gemm<Real>(CblasRowMajor, transposition(A), transposition(B), int(C.rows), int(C.cols), int(A.cols), factor, A.data,
             step(A), B.data, step(B), present == Present::added_to ? Real(1) : Real(0), C.data, step(C));
}

/// The same, row by row, for which nothing is copied: C_i = Bᵀ×A_i as columns.
template <std::floating_point Real>
void multiply_rows(View<const Real> A, View<const Real> B, View<Real> C, Present present, Real factor) {
  for (std::size_t i = 0; i < C.rows; ++i) {
    if (present == Present::overwritten) std::fill_n(&C(i, 0), C.cols, Real(0));
    gemv<Real>(CblasRowMajor, by_rows(B) ? CblasTrans : CblasNoTrans, int(by_rows(B) ? B.rows : B.cols),
               int(by_rows(B) ? B.cols : B.rows), factor, B.data, step(B), &A(i, 0), int(A.col_step), Real(1), &C(i, 0),
               1);
  }
}

/// to = from, in rows.
template <std::floating_point Real>
void lay_in_rows(View<const Real> from, View<Real> to) {
  if (by_rows(from)) {
    for (std::size_t i = 0; i < from.rows; ++i) std::copy_n(&from(i, 0), from.cols, &to(i, 0));
  } else {
    const int rows = int(from.cols), cols = int(from.rows), from_step = step(from), to_step = step(to);
    const Real one = 1;
    omatcopy<Real>("R", "T", &rows, &cols, &one, from.data, &from_step, to.data, &to_step);
  }
}

/// The pieces that a product of rows×inner and inner×cols is made of for OpenBLAS's kernels for AVX-512. They have a fast way
/// that copies neither factor, and take it for up to 10⁶ multiplications; if the right factor lies as columns, only for up to
/// 1,200 entries of the product. What is larger they copy whole, in an order of their own.
///
/// (Measured with floats, on one thread of an AMD EPYC of family 26, where neither the weights nor the result are in its cache,
/// against a product that is asked for at once: of 320 rows and 128×512 a piece after the other takes 1/1.1 of the time, of 512
/// rows and 512×512 1/1.07, by the transpose of these 1/1.1 and 1/1.05; of 24 rows by the transpose of 128×128 1/1.4; 512 sums of
/// 512 terms for each column of a head 1/1.2 to 1/1.5.)
struct Pieces {
  std::size_t rows, cols, depth;  ///< At most so many rows and columns of the product, and terms of its sums.
  bool laid_in_rows;              ///< What pieces need of the right factor is laid in rows first, one after the other.
  friend constexpr bool operator==(const Pieces&, const Pieces&) = default;
};
/// The room for what is laid in rows: 64 columns of up to 512 terms.
inline constexpr std::size_t room_for_rows = 64 * 512;
/// Those of factors that lie as rows or as columns.
constexpr Pieces pieces(std::size_t rows, std::size_t inner, std::size_t cols, bool left_by_rows, bool right_by_rows) {
  const bool not_copied = rows * inner * cols <= 1'000'000 && (right_by_rows || rows * cols <= 1'200);
  // Sums over the rows of both, Xᵀ×Y, are faster copied whole, if there are many of them.
  if (not_copied || (!left_by_rows && right_by_rows && cols > 64)) return {rows, cols, inner, false};
  if (rows >= (right_by_rows ? 128 : 64)) return {24, 64, 512, true};
  const std::size_t height = std::min<std::size_t>(rows, 24), several = 24 / height;
  return {height, (right_by_rows ? 64 : 48) * several, 512, false};
}

/// C = factor·A×B, or C += factor·A×B, in such pieces. The sums have a term, at least.
template <std::floating_point Real>
void multiply_in_pieces(View<const Real> A, View<const Real> B, View<Real> C, Present present, Real factor) {
  const Pieces at_most = pieces(C.rows, A.cols, C.cols, by_rows(A), by_rows(B));
  alignas(64) Real room[room_for_rows];
  for (std::size_t left = 0; left < C.cols; left += at_most.cols) {
    const std::size_t width = std::min(at_most.cols, C.cols - left);
    for (std::size_t first = 0; first < A.cols; first += at_most.depth) {
      const std::size_t depth = std::min(at_most.depth, A.cols - first);
      View<const Real> b = B.block(first, depth, left, width);
      if (at_most.laid_in_rows) {
        const View<Real> rows{room, depth, width, width};
        lay_in_rows(b, rows);
        b = rows;
      }
      for (std::size_t top = 0; top < C.rows; top += at_most.rows) {
        const std::size_t height = std::min(at_most.rows, C.rows - top);
        multiply_at_once<Real>(A.block(top, height, first, depth), b, C.block(top, height, left, width),
                               first == 0 ? present : Present::added_to, factor);
      }
    }
  }
}

/// How many rows of a product are given to kernels for AVX2 as a matrix: the first ones. The others go one by one.
///
/// Two or three rows take as long as four, or longer. So fewer than 8 go one by one, and of more those that are left over by fours.
/// (Measured on one thread, against all of them as a matrix: 2 and 3 rows take 1/3 to 2/3 of the time, 4 to 7 mostly 0.6 to 1,
/// from 8 on about the same.)
constexpr std::size_t rows_as_matrix(std::size_t rows) { return rows < 8 ? 0 : rows / 4 * 4; }

/// Whether even a single row is given to kernels for AVX-512 as a matrix: where the right factor lies in rows as wide as a head
/// mostly is, that of the values, and its transpose, that of the keys. (Measured with floats, on one thread, against the row as a
/// vector: 32 to 96 columns take 0.65 to 1 of the time, and the transpose of as many or more 0.65 to 0.85; of 16 twice.)
constexpr bool row_as_matrix(std::size_t inner, std::size_t cols, bool right_by_rows) {
  return right_by_rows ? cols >= 32 && cols <= 96 : inner >= 32;
}

/// C = factor·A×B, or C += factor·A×B, as these kernels are the fastest with it. The rows of C are contiguous. The first time it
/// throws std::bad_alloc if there is no room to multiply.
template <std::floating_point Real>
void multiply(View<const Real> A, View<const Real> B, View<Real> C, Present present, Real factor, Kernels by) {
  [[maybe_unused]] static const bool room = (room_for_threads(1), true);
  if (C.rows == 0 || C.cols == 0) return;
  if (by == Kernels::avx2) {
    const std::size_t together = rows_as_matrix(C.rows), alone = C.rows - together;
    if (together > 0)
      multiply_at_once(A.block(0, together, 0, A.cols), B, C.block(0, together, 0, C.cols), present, factor);
    multiply_rows(A.block(together, alone, 0, A.cols), B, C.block(together, alone, 0, C.cols), present, factor);
  } else if (C.rows == 1 && !(by == Kernels::avx512 && by_rows(A) && row_as_matrix(A.cols, C.cols, by_rows(B)))) {
    multiply_rows(A, B, C, present, factor);
  } else if (by == Kernels::avx512 && A.cols > 0) {
    multiply_in_pieces(A, B, C, present, factor);
  } else {
    multiply_at_once(A, B, C, present, factor);
  }
}

}  // namespace tlm::blas
