// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/text/pieces.hpp>

namespace tlm {

/// Two tokens that become one where they are side by side: the left one and the right one.
using Merge = std::pair<Token, Token>;

/// Learns a byte-pair encoding from a text. The first merge is the most frequent pair of bytes in the pieces of the
/// text. The next one is the pair of tokens that is then the most frequent, and so on. Merge k makes the token first +
/// k.
///
/// A pair is wherever one token follows another within a piece; three equal bytes are two pairs. Of equally frequent
/// pairs the least is taken: the one with the lower left token, then with the lower right one. It ends with `most`
/// merges, or earlier when no pair occurs twice.
inline std::vector<Merge> learn_merges(std::string_view text, Token first, std::size_t most) {
  std::unordered_map<std::string_view, std::size_t> pieces;
  for (std::string_view piece; !text.empty(); text.remove_prefix(piece.size())) ++pieces[piece = first_piece(text)];

  // Each piece once, with the number of times that it is in the text. Its tokens are linked, so that two become one in
  // place.
  constexpr auto none = std::size_t(-1);
  struct Link {
    Token token;
    std::size_t before, after, times;
  };
  struct Standing {
    std::size_t times = 0;
    std::vector<std::size_t> places;  // of the left tokens, ascending; some may have been merged since then
  };
  std::vector<Link> places;
  std::map<Merge, Standing> standing;
  const auto stands = [&](std::size_t left) {
    Standing& pair = standing[{places[left].token, places[places[left].after].token}];
    pair.times += places[left].times;
    pair.places.push_back(left);
  };
  const auto stands_no_more = [&](std::size_t left) {
    standing[{places[left].token, places[places[left].after].token}].times -= places[left].times;
  };
  for (const auto& [piece, times] : pieces) {
    const std::size_t begin = places.size(), end = begin + piece.size();
    for (std::size_t p = begin; p < end; ++p)
      places.push_back({static_cast<unsigned char>(piece[p - begin]), p == begin ? none : p - 1,
                        p + 1 == end ? none : p + 1, times});
    for (std::size_t p = begin; p + 1 < end; ++p) stands(p);
  }

  struct Candidate {
    std::size_t times;
    Merge merge;
    bool operator<(const Candidate& other) const {
      return times != other.times ? times < other.times : merge > other.merge;
    }
  };
  std::priority_queue<Candidate> candidates;
  const auto consider = [&](const Merge& merge) {
    if (const std::size_t times = standing[merge].times; times > 1) candidates.push({times, merge});
  };
  for (const auto& pair : standing) consider(pair.first);

  std::vector<Merge> merges;
  while (merges.size() < most && !candidates.empty()) {
    const auto [times, merge] = candidates.top();
    candidates.pop();
    // A pair that was there before can only have become rarer since then.
    if (standing[merge].times != times) {
      consider(merge);
      continue;
    }
    const Token merged = first + Token(merges.size());
    merges.push_back(merge);
    std::set<Merge> made;
    const std::vector<std::size_t> found = std::move(standing[merge].places);
    for (const std::size_t p : found) {
      const std::size_t q = places[p].after;
      if (q == none || Merge{places[p].token, places[q].token} != merge) continue;
      const std::size_t before = places[p].before, after = places[q].after;
      stands_no_more(p);
      if (before != none) stands_no_more(before);
      if (after != none) stands_no_more(q);
      places[p].token = merged;
      places[p].after = after;
      places[q].token = -1;
      if (before != none) {
        stands(before);
        made.emplace(places[before].token, merged);
      }
      if (after != none) {
        places[after].before = p;
        stands(p);
        made.emplace(merged, places[after].token);
      }
    }
    standing.erase(merge);
    for (const Merge& pair : made) consider(pair);
  }
  return merges;
}

}  // namespace tlm
