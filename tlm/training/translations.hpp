// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/training/batch.hpp>

/// What an encoder–decoder learns from: a batch of translations.
namespace tlm {

/// Sources x with their targets y = (y_1, …, y_m), which go from the start token to the end token. There is one target
/// for each source; all have any lengths. A target token equal to `null` does not count.
struct Translations {
  using Input = SourceAndTarget<Tokens, Tokens>;  ///< What a model reads.

  Tokens x, y;
  Token null = -1;  ///< By default it is not a token.

  /// The number of targets.
  std::size_t sequence_count() const { return y.sequences().count(); }
  /// The number of tokens of sources and targets.
  std::size_t token_count() const { return x.rows() + y.rows(); }
  /// Throws std::invalid_argument for other than one target for each source.
  void require_targets() const {
    if (sequence_count() != x.sequences().count())
      refuse<std::invalid_argument>({x.sequences().count(), " sources cannot have ", sequence_count(), " targets"});
  }
};

/// From translations, the model T reads x and (y_1, …, y_{m−1}) and should predict (y_2, …, y_m). ω is 1, and 0 for
/// null. Throws std::out_of_range for a token that T has no score for. Throws std::invalid_argument if there are no
/// targets, if a target has fewer than two tokens, or unless each source has one target.
template <class T>
Targets<Translations::Input, RealOf<T>> targets_of(const Translations& batch) {
  const Sequences& sequences = batch.y.sequences();
  batch.require_targets();
  if (sequences.count() == 0)
    refuse<std::invalid_argument>({"a batch needs at least one translation; this one is empty"});
  std::vector<std::vector<Token>> all_but_last, all_but_first;
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (sequences.length(s) < 2)
      refuse<std::invalid_argument>({"target ", s + 1, " has ", sequences.length(s),
                                     " tokens: a target needs the start token and one more, at least 2"});
    const Token *const first = batch.y.data() + sequences.begin(s), *const end = batch.y.data() + sequences.end(s);
    all_but_last.emplace_back(first, end - 1);
    all_but_first.emplace_back(first + 1, end);
  }
  Tokens y{all_but_first};
  require_in_vocabulary(y, T::codomain::cols, "to be predicted", 1);
  Matrix<n, 1, RealOf<T>> omega{y.sequences()};
  for (std::size_t k = 0; k < y.rows(); ++k) omega(k, 0) = RealOf<T>(int(y(k, 0) != batch.null));
  return {{batch.x, Tokens{all_but_last}}, std::move(y), std::move(omega)};
}

/// Translations first, …, last − 1. Throws std::invalid_argument unless each source has one target, and std::out_of_range
/// unless these are in it.
inline Translations sequences_of(const Translations& batch, std::size_t first, std::size_t last) {
  batch.require_targets();
  return {sequences_of(batch.x, first, last), sequences_of(batch.y, first, last), batch.null};
}

}  // namespace tlm
