// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
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
/// merges, or earlier when no pair occurs twice. Each merge looks at all pairs that there are.
inline std::vector<Merge> learn_merges(std::string_view text, Token first, std::size_t most) {
  std::map<std::string_view, std::ptrdiff_t> times_of;
  for (std::string_view piece; !text.empty(); text.remove_prefix(piece.size())) ++times_of[piece = first_piece(text)];

  // Each piece once, with the number of times that it is in the text, and for each pair the pieces to look for it in.
  struct Piece {
    std::vector<Token> tokens;
    std::ptrdiff_t times;
  };
  struct Pair {
    std::ptrdiff_t times = 0;
    std::vector<std::size_t> pieces = {};  // that have it, or had it; ascending
  };
  std::vector<Piece> pieces;
  std::map<Merge, Pair> pairs;
  const auto add = [&](Token left, Token right, std::size_t p) {
    Pair& pair = pairs[{left, right}];
    pair.times += pieces[p].times;
    if (pair.pieces.empty() || pair.pieces.back() != p) pair.pieces.push_back(p);
  };
  for (const auto& [piece, times] : times_of) {
    std::vector<Token> tokens;
    for (const char byte : piece) tokens.push_back(static_cast<unsigned char>(byte));
    pieces.push_back({tokens, times});
    for (std::size_t i = 1; i < tokens.size(); ++i) add(tokens[i - 1], tokens[i], pieces.size() - 1);
  }

  const auto is_rarer = [](const auto& a, const auto& b) { return a.second.times < b.second.times; };
  std::vector<Merge> merges;
  while (merges.size() < most) {
    const auto found = std::max_element(pairs.begin(), pairs.end(), is_rarer);  // of several the first, the least
    if (found == pairs.end() || found->second.times < 2) break;
    const auto merged = pairs.extract(found);
    const Merge merge = merged.key();
    const Token made = first + Token(merges.size());
    for (const std::size_t p : merged.mapped().pieces) {
      auto& [tokens, times] = pieces[p];
      std::size_t end = 0;
      for (std::size_t i = 0; i < tokens.size(); ++i, ++end) {
        if (i + 1 == tokens.size() || Merge{tokens[i], tokens[i + 1]} != merge) {
          tokens[end] = tokens[i];
          continue;
        }
        if (end > 0) {
          pairs[{tokens[end - 1], tokens[i]}].times -= times;
          add(tokens[end - 1], made, p);
        }
        if (i + 2 < tokens.size()) {
          pairs[{tokens[i + 1], tokens[i + 2]}].times -= times;
          add(made, tokens[i + 2], p);
        }
        tokens[end] = made;
        ++i;
      }
      tokens.resize(end);
    }
    merges.push_back(merge);
  }
  return merges;
}

}  // namespace tlm
