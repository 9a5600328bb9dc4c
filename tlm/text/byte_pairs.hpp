// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/text/byte_letters.hpp>
#include <tlm/text/lines.hpp>
#include <tlm/text/merges.hpp>

namespace tlm {

/// Byte-level byte-pair encoding: a text as tokens from {0, 1, …, vocab_size − 1}, and back. (The Wolfram article,
/// "Tokenizer".)
///
/// Token b < 256 is the byte b. No text contains the tokens `start`, `end` and `separator`. Merge k = 0, 1, … makes
/// token 259 + k of two earlier tokens. There may be fewer merges than the vocabulary has room for. Then no text
/// contains the tokens that are left.
///
/// Any bytes are a text, and decode(encode(text)) = text.
template <std::size_t vocab_size>
class BytePairs {
 public:
  static constexpr Token start = 256, end = 257, separator = 258;
  /// The token of the first merge.
  static constexpr Token first_merged = 259;
  /// The number of merges for which there is room.
  static constexpr std::size_t most_merges = vocab_size < 259 ? 0 : vocab_size - 259;

  /// No merges: every byte is a token.
  BytePairs() {
    for (int byte = 0; byte < 256; ++byte) bytes_.emplace_back(1, char(byte));
    bytes_.resize(std::size_t(first_merged));
  }

  /// Learned from a text by learn_merges. The same text gives the same merges. The merges of a larger vocabulary begin
  /// with those of a smaller one.
  static BytePairs learned(std::string_view text) {
    BytePairs pairs;
    for (const Merge& merge : learn_merges(text, first_merged, most_merges)) pairs.add(merge);
    return pairs;
  }

  /// Read from a list of merges, in the format of GPT-2's merges.txt and of list(). It has a line that begins with
  /// `#version: 0.2`, and then a line (bare_line) for each merge: the two tokens in byte_letters, with a space between
  /// them. Throws std::invalid_argument, with the number of the line, for anything else, and for more merges than the
  /// vocabulary has room for.
  ///
  /// The tokens are numbered as described above, unlike GPT-2's.
  static BytePairs from_list(std::string_view list) {
    BytePairs pairs;
    std::unordered_map<std::string, Token> tokens;  // by their letters
    for (Token byte = 0; byte < 256; ++byte) tokens.emplace(letters_of(pairs.bytes(byte)), byte);
    std::size_t number = 1;
    const auto refuse = [&](const std::string& why) {
      tlm::refuse<std::invalid_argument>({"line ", number, " of the list of merges ", why});
    };
    if (list.empty()) refuse("is missing");
    if (const std::string_view line = take_line(list); !line.starts_with(version))
      refuse("is " + in_quotes(line) + ", and should begin with " + in_quotes(version));
    while (!list.empty()) {
      const std::string_view line = take_line(list);
      ++number;
      if (pairs.merges_.size() == most_merges)
        refuse("is one merge too many: a vocabulary of " + std::to_string(vocab_size) + " tokens has room for " +
               std::to_string(most_merges));
      const std::size_t space = line.find(' ');
      if (space == line.npos || line.find(' ', space + 1) != line.npos)
        refuse("is " + in_quotes(line) + ", not two tokens with a space between them");
      const auto token = [&](std::string_view letters) {
        const auto found = tokens.find(std::string(letters));
        if (found == tokens.end())
          refuse("has " + in_quotes(letters) + ", which is no byte and no merge of a line before");
        return found->second;
      };
      const Token left = token(line.substr(0, space)), right = token(line.substr(space + 1));
      pairs.add({left, right});
      // With two merges to the same bytes, a later line would be ambiguous. Learning never makes such merges.
      const std::string made = letters_of(pairs.bytes_.back());
      if (!tokens.emplace(made, Token(pairs.bytes_.size() - 1)).second)
        refuse("makes " + in_quotes(made) + ", which a line before makes already");
    }
    return pairs;
  }

  /// The list of merges, as from_list reads it.
  std::string list() const {
    std::string list{version};
    list += '\n';
    for (const auto& [left, right] : merges_) list += letters_of(bytes(left)) + ' ' + letters_of(bytes(right)) + '\n';
    return list;
  }

  /// The bytes of a token. There are none for start, end, separator, and the tokens that no text contains. Throws
  /// std::out_of_range for a token that is not in the vocabulary.
  std::string_view bytes(Token token) const {
    if (token < 0 || std::size_t(token) >= vocab_size)
      refuse<std::out_of_range>({"token ", token, " is not in the vocabulary: tokens are 0 to ", vocab_size - 1});
    return std::size_t(token) < bytes_.size() ? std::string_view(bytes_[std::size_t(token)]) : std::string_view();
  }

  /// The token that the merge of two tokens makes; nothing if there is no such merge.
  std::optional<Token> merged(Token left, Token right) const {
    const auto found = merged_.find({left, right});
    return found == merged_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The tokens of a text. Each piece begins as its bytes. While there are pairs to merge, the pair whose merge comes
  /// first in the list is merged; of several such pairs, the leftmost.
  std::vector<Token> encode(std::string_view text) const {
    std::vector<Token> all;
    for (std::string_view piece; !text.empty(); text.remove_prefix(piece.size())) {
      std::vector<Token> tokens;
      for (const char byte : piece = first_piece(text)) tokens.push_back(static_cast<unsigned char>(byte));
      // Only merges that come later in the list use the token that a merge makes. So all places of one merge are merged
      // before any place of the next one.
      for (;;) {
        std::optional<Token> next;
        for (std::size_t i = 1; i < tokens.size(); ++i)
          if (const auto made = merged(tokens[i - 1], tokens[i]); made && (!next || *made < *next)) next = made;
        if (!next) break;
        merge_in(tokens, merges_[std::size_t(*next - first_merged)], *next);
      }
      all.insert(all.end(), tokens.begin(), tokens.end());
    }
    return all;
  }

  /// The bytes of the tokens, one after the other. Throws like bytes.
  std::string decode(const std::vector<Token>& tokens) const {
    std::string text;
    for (const Token token : tokens) text += bytes(token);
    return text;
  }

 private:
  static constexpr std::string_view version = "#version: 0.2";

  void add(const Merge& merge) {
    merged_.emplace(merge, Token(bytes_.size()));
    bytes_.push_back(bytes_[std::size_t(merge.first)] + bytes_[std::size_t(merge.second)]);
    merges_.push_back(merge);
  }

  std::vector<std::string> bytes_;  // of each token: the single bytes, three empty ones, and then the merges
  std::vector<Merge> merges_;
  std::map<Merge, Token> merged_;

  // The last line: Clang declares nothing after an assertion that fails.
  static_assert(vocab_size >= 259,
                "a vocabulary of byte pairs holds 256 bytes and 3 tokens that no text makes: 259 at least");
};

}  // namespace tlm
