// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/text/utf8.hpp>
#include "pairs.hpp"

/// How similar two texts are, measured by the runs of characters that they share.
namespace tlm {

/// How many runs of one length two texts share, and how many each has. A run counts as often as it occurs.
struct SharedRuns {
  std::size_t shared = 0, in_text = 0, in_reference = 0;

  SharedRuns& operator+=(const SharedRuns& other) {
    shared += other.shared;
    in_text += other.in_text;
    in_reference += other.in_reference;
    return *this;
  }
};

/// The runs of `length` characters that a text and its reference share. White space does not count as characters.
inline SharedRuns shared_runs(std::string_view text, std::string_view reference, std::size_t length) {
  const auto count = [length](std::string_view bytes) {
    std::vector<std::size_t> begins;  // where the characters begin in what is left
    std::string kept;
    for (const char c : bytes)
      if (c != ' ' && !('\t' <= c && c <= '\r')) {
        if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) begins.push_back(kept.size());
        kept += c;
      }
    begins.push_back(kept.size());
    std::map<std::string, std::size_t> runs;
    for (std::size_t i = 0; i + length < begins.size(); ++i)
      ++runs[kept.substr(begins[i], begins[i + length] - begins[i])];
    return runs;
  };
  const auto in_text = count(text), in_reference = count(reference);
  SharedRuns runs;
  for (const auto& [run, times] : in_text) {
    runs.in_text += times;
    if (const auto found = in_reference.find(run); found != in_reference.end())
      runs.shared += std::min(times, found->second);
  }
  for (const auto& [run, times] : in_reference) runs.in_reference += times;
  return runs;
}

/// The character F-score of texts against their references, from 0 to 1: chrF (Popović, 2015) with runs of 1 to 6
/// characters and β = 2. The runs of all texts are counted together.
///
/// The precision P is the share of the texts' runs that their references have too. The recall R is the share of the
/// references' runs that the texts have. Each is a mean over the lengths of which the references have runs. The score
/// is (1 + β²)PR/(β²P + R): recall counts twice as much. It is 0 if nothing is shared.
class CharacterFScore {
 public:
  void add(std::string_view text, std::string_view reference) {
    for (std::size_t length = 1; length <= longest; ++length) runs_[length - 1] += shared_runs(text, reference, length);
  }

  double value() const {
    double precision = 0, recall = 0, lengths = 0;
    for (const SharedRuns& runs : runs_)
      if (runs.in_reference > 0) {
        precision += runs.in_text > 0 ? double(runs.shared) / double(runs.in_text) : 0;
        recall += double(runs.shared) / double(runs.in_reference);
        ++lengths;
      }
    if (recall == 0) return 0;
    constexpr double beta_squared = 4;
    return (1 + beta_squared) * precision * recall / (beta_squared * precision + recall) / lengths;
  }

 private:
  static constexpr std::size_t longest = 6;
  SharedRuns runs_[longest];
};

/// The known sentence that is most similar to a given one: the maximum of 2·shared/(runs of the one + runs of the
/// other), with runs of three bytes. A translator should do better than that sentence's translation.
class NearestSentence {
 public:
  /// Searches the sources of these pairs, which must outlive it.
  explicit NearestSentence(const std::vector<SentencePair>& pairs) : pairs_{pairs} {
    for (const SentencePair& pair : pairs) runs_.push_back(runs_of(pair.source));
  }

  /// The pair with the most similar source, the first of several. There must be at least one pair.
  const SentencePair& operator()(std::string_view sentence) const {
    const auto runs = runs_of(sentence);
    std::size_t nearest = 0;
    double greatest = -1;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      std::size_t shared = 0;
      for (auto a = runs.begin(), b = runs_[p].begin(); a != runs.end() && b != runs_[p].end();)
        if (*a == *b)
          ++shared, ++a, ++b;
        else
          *a < *b ? ++a : ++b;
      const double likeness = 2 * double(shared) / double(runs.size() + runs_[p].size());
      if (likeness > greatest) greatest = likeness, nearest = p;
    }
    return pairs_[nearest];
  }

 private:
  /// The runs of three bytes, sorted. The text is put between two bytes for its beginning and one for its end.
  static std::vector<unsigned> runs_of(std::string_view text) {
    const std::string bytes = "\2\2" + std::string(text) + "\3";
    std::vector<unsigned> runs;
    const auto byte = [&](std::size_t i) { return unsigned{static_cast<unsigned char>(bytes[i])}; };
    for (std::size_t i = 0; i + 2 < bytes.size(); ++i) runs.push_back(byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2));
    std::sort(runs.begin(), runs.end());
    return runs;
  }

  const std::vector<SentencePair>& pairs_;
  std::vector<std::vector<unsigned>> runs_;
};

}  // namespace tlm
