// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/noise.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/rearranged.hpp>

/// What a model learns from: batches of sequences, or of sources with their targets.
namespace tlm {

/// A batch of input sequences (x_j1, …, x_jn), one under the other and of any lengths; for every token a loss weight ω_ji
/// from [0, 1]; and the token that starts every sequence, which is not among its x. (Article, "Batch evaluation with loss
/// weights", where 0 starts.) x and ω are written alike, sequence by sequence: Batch<>{0, {{1, 2}, {5}}, {{1, 0.5}, {1}}};
/// of ω that are in one row, they are Matrix<n, 1>{x.sequences(), {1, 0.5, 1}}.
template <class Real = float>
struct Batch {
  Token start;
  Tokens x;
  Matrix<n, 1, Real> omega;
};

/// Sequences all of whose tokens count alike.
template <class Real = float>
Batch<Real> unweighted(Token start, Tokens x) {
  Matrix<n, 1, Real> ones{x.sequences(), Real(1)};
  return {start, std::move(x), std::move(ones)};
}

/// Sources x with their targets y = (y_1, …, y_m), from the token that starts to the token that ends: as many sequences of
/// each, of any lengths. A target token equal to `null` does not count.
struct Translations {
  Tokens x, y;
  Token null = -1;  ///< No token by default.
};

/// Throws std::invalid_argument unless there is a weight for each token.
template <class Real>
void require_a_weight_for_each_token(const Batch<Real>& batch) {
  require_same_sequences("the tokens", batch.x.sequences(), "the loss weights", batch.omega.sequences());
}

/// Throws std::invalid_argument for other than one target for each source.
inline void require_a_target_for_each_source(const Translations& batch) {
  if (batch.y.sequences().count() != batch.x.sequences().count())
    refuse<std::invalid_argument>(
        {batch.x.sequences().count(), " sources cannot have ", batch.y.sequences().count(), " targets"});
}

/// How many sequences a batch has; of translations, targets.
template <class Real>
std::size_t sequence_count(const Batch<Real>& batch) {
  return batch.x.sequences().count();
}
inline std::size_t sequence_count(const Translations& batch) { return batch.y.sequences().count(); }

/// How many tokens a model reads of a batch; of translations, those of sources and targets.
template <class Real>
std::size_t token_count(const Batch<Real>& batch) {
  return batch.x.rows();
}
inline std::size_t token_count(const Translations& batch) { return batch.x.rows() + batch.y.rows(); }

/// A batch that is given in parts, which are computed one after the other: no more than one of them is in memory at a time
/// with all that its derivative needs. Loss and gradient are those of the whole batch.
template <class BatchOf>
struct InParts {
  std::vector<BatchOf> parts;
};

/// part(first, last) for so many sequences, `most` at a time.
template <class BatchOf, class Part>
InParts<BatchOf> parts_of(std::size_t count, std::size_t most, const Part& part) {
  if (most == 0) refuse<std::invalid_argument>({"parts of 0 sequences make no batch: at least 1 is needed in each"});
  InParts<BatchOf> batch;
  for (std::size_t first = 0; first < count; first += most)
    batch.parts.push_back(part(first, std::min(first + most, count)));
  return batch;
}

/// Sequences first, …, last − 1 of a stack, one under the other. Throws std::out_of_range if there are not so many.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> sequences_of(const Matrix<n, cols, Real>& X, std::size_t first, std::size_t last) {
  std::vector<Matrix<n, cols, Real>> chosen;
  for (std::size_t s = first; s < last; ++s) chosen.push_back(sequence(X, s));
  return concat_sequences(chosen);
}

/// The sequences of a batch in parts of `most` sequences, the last of which has what is left. Throws std::invalid_argument
/// for parts of 0 sequences, and unless there is a weight for each token.
template <class Real>
InParts<Batch<Real>> in_parts(const Batch<Real>& batch, std::size_t most) {
  require_a_weight_for_each_token(batch);
  return parts_of<Batch<Real>>(sequence_count(batch), most, [&](std::size_t first, std::size_t last) {
    return Batch<Real>{batch.start, sequences_of(batch.x, first, last), sequences_of(batch.omega, first, last)};
  });
}

/// The same of translations. Throws std::invalid_argument for parts of 0, and for other than one target for each source.
inline InParts<Translations> in_parts(const Translations& batch, std::size_t most) {
  require_a_target_for_each_source(batch);
  return parts_of<Translations>(sequence_count(batch), most, [&](std::size_t first, std::size_t last) {
    return Translations{sequences_of(batch.x, first, last), sequences_of(batch.y, first, last), batch.null};
  });
}

/// A batch that a model reads while it is disturbed: its loss is that of T(·; noise), by which a model with a Dropout learns.
template <class BatchOf>
struct Disturbed {
  BatchOf batch;
  Noise noise;
};
/// What compilers deduce by themselves, but Clang only from 17 on.
template <class BatchOf>
Disturbed(BatchOf, Noise) -> Disturbed<BatchOf>;

template <class BatchOf>
std::size_t sequence_count(const Disturbed<BatchOf>& batch) {
  return sequence_count(batch.batch);
}
template <class BatchOf>
std::size_t token_count(const Disturbed<BatchOf>& batch) {
  return token_count(batch.batch);
}

/// The same of a batch that is disturbed: every sequence by what would disturb it in the whole. Throws like these.
template <class BatchOf>
InParts<Disturbed<BatchOf>> in_parts(const Disturbed<BatchOf>& whole, std::size_t most) {
  InParts<BatchOf> calm = in_parts(whole.batch, most);
  InParts<Disturbed<BatchOf>> batch;
  for (std::size_t k = 0; k < calm.parts.size(); ++k)
    batch.parts.push_back({std::move(calm.parts[k]), whole.noise.from(k * most)});
  return batch;
}

/// What a batch brings into the environment of the model: the noise of one that is disturbed.
template <class BatchOf>
std::tuple<> environment_of(const BatchOf&) {
  return {};
}
template <class BatchOf>
std::tuple<Noise> environment_of(const Disturbed<BatchOf>& batch) {
  return {batch.noise};
}

/// What a model reads of a batch, what it should say after each token that it reads, and what that weighs.
template <class Domain, class Real>
struct Lesson {
  Domain read;
  Tokens said;
  Matrix<n, 1, Real> omega;
  std::size_t skipped = 0;  ///< How many tokens of each sequence come before those that are to be said, and are not.
};

/// X|n where X = (start, x_1, …, x_n): every sequence behind the token that starts, without its last token.
///
/// The loss looks at T(X)|n only. As T is autoregressive that is T(X|n), so that row n + 1 need not be computed.
/// Throws std::invalid_argument for an empty sequence, or no sequence at all.
inline Tokens preceded_by(Token start, const Tokens& x) {
  const Sequences& sequences = x.sequences();
  if (sequences.count() == 0) refuse<std::invalid_argument>({"a batch needs at least one sequence; this one is empty"});
  Tokens X{sequences};
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (sequences.length(s) == 0)
      refuse<std::invalid_argument>({"sequence ", s + 1, " of the batch is empty: a loss needs a token"});
    X(sequences.begin(s), 0) = start;
    for (std::size_t i = sequences.begin(s) + 1; i < sequences.end(s); ++i) X(i, 0) = x(i - 1, 0);
  }
  return X;
}

/// Of sequences x: X|n is read, x is to be said. Throws like preceded_by, and std::invalid_argument unless there is a weight
/// for each token.
template <class Real>
Lesson<Tokens, Real> lesson(const Batch<Real>& batch) {
  require_a_weight_for_each_token(batch);
  return {preceded_by(batch.start, batch.x), batch.x, batch.omega};
}

/// Of sources and targets: x and y_−m, the targets without their last tokens, are read, and (y_2, …, y_m) is to be said;
/// ω is 1 where that counts and 0 where it is null. Throws std::invalid_argument for no targets, a target of fewer than two
/// tokens, or other than one target for each source.
template <class Real>
Lesson<SourceAndTarget<Tokens, Tokens>, Real> lesson(const Translations& batch) {
  const Sequences& sequences = batch.y.sequences();
  require_a_target_for_each_source(batch);
  if (sequences.count() == 0)
    refuse<std::invalid_argument>({"a batch needs at least one translation; this one is empty"});
  std::vector<std::size_t> lengths;
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (sequences.length(s) < 2)
      refuse<std::invalid_argument>({"target ", s + 1, " has ", sequences.length(s),
                                     " tokens: a target needs a start and a token to say, 2 at least"});
    lengths.push_back(sequences.length(s) - 1);
  }
  const Sequences shorter = Sequences::of_lengths(lengths);
  Tokens read{shorter}, said{shorter};
  Matrix<n, 1, Real> omega{shorter};
  for (std::size_t s = 0; s < shorter.count(); ++s)
    for (std::size_t i = 0; i < lengths[s]; ++i) {
      const std::size_t from = sequences.begin(s) + i, to = shorter.begin(s) + i;
      read(to, 0) = batch.y(from, 0);
      said(to, 0) = batch.y(from + 1, 0);
      omega(to, 0) = Real(int(said(to, 0) != batch.null));
    }
  return {{batch.x, std::move(read)}, std::move(said), std::move(omega), 1};
}

/// Of a batch that is disturbed: what it would be without.
template <class Real, class BatchOf>
auto lesson(const Disturbed<BatchOf>& batch) {
  return lesson<Real>(batch.batch);
}

}  // namespace tlm
