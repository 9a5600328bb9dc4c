// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <examples/shared/read_file.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/text/byte_pairs.hpp>
#include <tlm/text/lines.hpp>
#include <tlm/text/utf8.hpp>

/// Sentences with their translations.
namespace tlm {

/// The parts of a text between separators: one part more than there are separators.
inline std::vector<std::string_view> parts_between(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

/// Whether a text is UTF-8 from its beginning to its end.
inline bool is_utf8(std::string_view text) {
  while (take_character(text)) {
  }
  return text.empty();
}

/// A sentence and its translation, in UTF-8, and where they come from: "line 3", "message 5 of tar.mo".
struct SentencePair {
  std::string source, target, place;

  bool operator==(const SentencePair&) const = default;
};

/// What was left out: for each the reason.
using LeftOut = std::vector<std::string>;

/// "5 left out: line 3 has no tab; line 7 has no tab; line 9 has no tab; …", or "none left out".
inline std::string sentence_of(const LeftOut& left_out) {
  constexpr std::size_t few = 3;
  if (left_out.empty()) return "none left out";
  std::string sentence = std::to_string(left_out.size()) + " left out";
  for (std::size_t i = 0; i < std::min(few, left_out.size()); ++i) sentence += (i == 0 ? ": " : "; ") + left_out[i];
  return sentence + (left_out.size() > few ? "; …" : "");
}

/// Pairs, and what was left out when they were gathered.
struct SentencePairs {
  std::vector<SentencePair> pairs;
  LeftOut left_out;
  std::size_t numbered = 0;  ///< How many lines have their sentences in columns 2 and 4, after numbers.
};

/// Whether a text is a number in decimal digits.
inline bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

/// The pairs of a text with one in each line (bare_line), such as the Wolfram article downloads. A line is a sentence,
/// a tab, its translation, and then the end of the line, or a tab and anything. Lines that are not a pair, or not
/// UTF-8, are left out.
///
/// If columns 1 and 3 are numbers and there is a column 4, the pair is columns 2 and 4. Tatoeba's own export numbers
/// its sentences in this way. Such lines are counted.
///
/// Throws std::invalid_argument if the text is empty or has a byte 0, and if none of its lines is a pair. The message
/// calls the text by this name.
inline SentencePairs pairs_of_lines(std::string_view text, const std::string& name) {
  if (bare_line(text).empty()) refuse<std::invalid_argument>({name, " is empty: there are no pairs in it"});
  if (const std::size_t at = text.find('\0'); at != text.npos)
    refuse<std::invalid_argument>({name, " is not a text in UTF-8: there is a byte 0 in line ",
                                   1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n')});
  SentencePairs read;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string place = "line " + std::to_string(++number);
    const std::string_view line = take_line(text);
    const auto columns = parts_between(line, '\t');
    const bool has_tab = columns.size() > 1;
    const bool is_numbered = columns.size() > 3 && is_number(columns[0]) && is_number(columns[2]);
    const std::string_view source = columns[is_numbered ? 1 : 0];
    const std::string_view target = has_tab ? columns[is_numbered ? 3 : 1] : std::string_view();
    read.numbered += is_numbered;
    if (line.empty())
      read.left_out.push_back(place + " is empty");
    else if (!has_tab)
      read.left_out.push_back(place + " has no tab");
    else if (source.empty() || target.empty())
      read.left_out.push_back(place + (is_numbered      ? " has numbers, and not two sentences"
                                       : source.empty() ? " has nothing before the first tab"
                                                        : " has nothing after the first tab"));
    else if (!is_utf8(source) || !is_utf8(target))
      read.left_out.push_back(place + " is not in UTF-8");
    else
      read.pairs.push_back({std::string(source), std::string(target), place});
  }
  if (read.pairs.empty())
    refuse<std::invalid_argument>(
        {name, " has no line of a sentence, a tab and its translation: ", sentence_of(read.left_out)});
  return read;
}

/// The pairs of a file, by pairs_of_lines. Throws like it and like read_file.
inline SentencePairs read_pairs(const std::filesystem::path& path) {
  return pairs_of_lines(program::read_file(path), path.string());
}

/// Every pair of a source and a target once, at its first place.
inline std::vector<SentencePair> distinct(std::vector<SentencePair> pairs) {
  std::set<std::pair<std::string, std::string>> seen;
  std::erase_if(pairs, [&](const SentencePair& pair) { return !seen.emplace(pair.source, pair.target).second; });
  return pairs;
}

/// The set of words of a text. A word is a run of digits, ASCII letters and characters from U+0080 on. Capital letters
/// of ASCII count as small ones.
///
/// A Latin letter with a mark is left out of its word, whether it is one character (é, U+00E9) or two (e and U+0301).
/// So a Latin text has the same words in both of Unicode's forms, NFC and NFD. Words of other scripts may differ: they
/// would need tables of all characters.
inline std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  const auto ends = [&] {
    if (!word.empty()) words.insert(std::move(word));
    word.clear();
  };
  bool after_letter = false;
  while (!text.empty()) {
    const std::string_view rest = text;
    const auto c = take_character(text).value_or(U'\uFFFD');
    if (text.size() == rest.size()) text.remove_prefix(1);  // a byte that is not UTF-8
    const auto is_from = [c](char32_t first, char32_t end) { return first <= c && c <= end; };
    const bool is_letter = is_from('a', 'z') || is_from('A', 'Z'), is_mark = is_from(0x300, 0x36F);
    if (is_mark && after_letter) word.pop_back();
    after_letter = is_letter;
    if (is_mark || is_from(0xC0, 0x24F) || is_from(0x1E00, 0x1EFF)) continue;
    if (is_from('A', 'Z'))
      word.push_back(char(c - 'A' + 'a'));
    else if (is_letter || is_from('0', '9') || c >= 0x80)
      word += rest.substr(0, rest.size() - text.size());
    else
      ends();
  }
  ends();
  return words;
}

/// What is learned from, and what is held out to test what was learned.
struct TrainingAndHeldOut {
  std::vector<SentencePair> training, held_out;
};

/// A hash of the set of words of the source holds out about one pair in `one_in`. So sources with the same words are on
/// the same side, whatever their order, number and the signs between them. The side does not depend on other pairs.
/// (Targets may be on both sides.) Throws std::invalid_argument unless one_in ≥ 2.
inline TrainingAndHeldOut split_by_words(const std::vector<SentencePair>& pairs, std::size_t one_in) {
  if (one_in < 2)
    refuse<std::invalid_argument>(
        {"one pair in ", one_in, " cannot be held out: it takes one in 2 or more to leave some to learn from"});
  TrainingAndHeldOut split;
  for (const SentencePair& pair : pairs) {
    std::uint64_t hash = 0;
    for (const std::string& word : words_of(pair.source))
      hash = mixed(mixed(hash, std::as_bytes(std::span{word})) ^ ' ');
    (mixed(hash) % one_in == 0 ? split.held_out : split.training).push_back(pair);
  }
  return split;
}

/// All sources and targets, one in each line, for BytePairs to learn from.
inline std::string lines_of(const std::vector<SentencePair>& pairs) {
  std::string lines;
  for (const SentencePair& pair : pairs) lines.append(pair.source).append("\n").append(pair.target).append("\n");
  return lines;
}

/// start, the tokens of a text, end: what a translator reads and generates, as in the Wolfram article.
template <std::size_t vocab_size>
std::vector<Token> framed(const BytePairs<vocab_size>& byte_pairs, std::string_view text) {
  std::vector<Token> tokens = byte_pairs.encode(text);
  tokens.insert(tokens.begin(), BytePairs<vocab_size>::start);
  tokens.push_back(BytePairs<vocab_size>::end);
  return tokens;
}

/// Sources and targets as framed tokens.
struct TokenPairs {
  std::vector<std::vector<Token>> sources, targets;
  std::vector<SentencePair> pairs;  ///< The sentences whose tokens they are.
  LeftOut left_out;
};

/// The pairs as tokens. A pair is left out if its source or its target has more than max_len tokens, the start token
/// and the end token included.
template <std::size_t vocab_size>
TokenPairs tokens_of(const std::vector<SentencePair>& pairs, const BytePairs<vocab_size>& byte_pairs,
                     std::size_t max_len) {
  TokenPairs tokens;
  for (const SentencePair& pair : pairs) {
    auto source = framed(byte_pairs, pair.source), target = framed(byte_pairs, pair.target);
    if (const std::size_t length = std::max(source.size(), target.size()); length > max_len) {
      tokens.left_out.push_back(pair.place + " has a sentence of " + std::to_string(length) + " tokens: max_len is " +
                                std::to_string(max_len));
    } else {
      tokens.sources.push_back(std::move(source));
      tokens.targets.push_back(std::move(target));
      tokens.pairs.push_back(pair);
    }
  }
  return tokens;
}

}  // namespace tlm
