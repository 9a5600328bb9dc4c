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

/// Merges these two tokens wherever they are side by side, from the left. They become `made`, a token that is new.
inline void merge_in(std::vector<Token>& tokens, const Merge& merge, Token made) {
  std::size_t end = 0;
  for (const Token token : tokens)
    if (end > 0 && Merge{tokens[end - 1], token} == merge)
      tokens[end - 1] = made;
    else
      tokens[end++] = token;
  tokens.resize(end);
}

/// Learns a byte-pair encoding from a text. The first merge is the most frequent pair of bytes in the pieces of the
/// text. The next one is the pair of tokens that is then the most frequent, and so on. Merge k makes the token first +
/// k.
///
/// A pair is wherever one token follows another within a piece; three equal bytes are two pairs. Of equally frequent
/// pairs the least is taken: the one with the lower left token, then with the lower right one. It ends with `most`
/// merges, or earlier when no pair occurs twice. Each merge looks at all pairs and all pieces that there are.
inline std::vector<Merge> learn_merges(std::string_view text, Token first, std::size_t most) {
  std::map<std::string_view, std::ptrdiff_t> times_of;
  for (std::string_view piece; !text.empty(); text.remove_prefix(piece.size())) ++times_of[piece = first_piece(text)];

  // Each piece once, with the number of times that it is in the text; and each pair, with the number of times that it is.
  std::vector<std::pair<std::vector<Token>, std::ptrdiff_t>> pieces;
  std::map<Merge, std::ptrdiff_t> pairs;
  const auto count = [&](const std::vector<Token>& tokens, std::ptrdiff_t times) {
    for (std::size_t i = 1; i < tokens.size(); ++i) pairs[{tokens[i - 1], tokens[i]}] += times;
  };
  for (const auto& [piece, times] : times_of) {
    auto& tokens = pieces.emplace_back(std::vector<Token>{}, times).first;
    for (const char byte : piece) tokens.push_back(static_cast<unsigned char>(byte));
    count(tokens, times);
  }

  const auto is_rarer = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::vector<Merge> merges;
  while (merges.size() < most) {
    const auto found = std::max_element(pairs.begin(), pairs.end(), is_rarer);  // of several the first, the least
    if (found == pairs.end() || found->second < 2) break;
    const Merge merge = found->first;
    const auto is_merged = [&](Token left, Token right) { return Merge{left, right} == merge; };
    for (auto& [tokens, times] : pieces) {
      if (std::adjacent_find(tokens.begin(), tokens.end(), is_merged) == tokens.end()) continue;
      count(tokens, -times);
      merge_in(tokens, merge, first + Token(merges.size()));
      count(tokens, times);
    }
    merges.push_back(merge);
  }
  return merges;
}

}  // namespace tlm
