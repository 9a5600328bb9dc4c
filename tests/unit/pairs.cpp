// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <examples/shared/utf8.hpp>
#include <examples/translate/f_score.hpp>
#include <examples/translate/pairs.hpp>

#include "../printing.hpp"

namespace tlm::tests::in_pairs {

namespace {

std::string refusal_of(const std::string& text) {
  return refusal([&] { pairs_of_lines(text, "fra.txt"); });
}

/// Whether no set of words of a source is on both sides.
bool apart(const TrainingAndHeldOut& sides) {
  std::set<std::set<std::string>> training;
  for (const SentencePair& pair : sides.training) training.insert(words_of(pair.source));
  for (const SentencePair& pair : sides.held_out)
    if (training.contains(words_of(pair.source))) return false;
  return true;
}

/// Sentences of up to three words of ten, with signs and capital letters between them.
std::vector<SentencePair> sentences() {
  std::vector<SentencePair> pairs;
  const std::vector<std::string> words{"red", "Blue", "is", "a", "HOUSE", "the", "été", "42", "no", "go"};
  for (const std::string& a : words)
    for (const std::string& b : words)
      for (const std::string& c : words) pairs.push_back({a + ", " + b + " " + c + "!", c + b + a, ""});
  return pairs;
}

}  // namespace

TEST_CASE("a pair is what is before and after the first tab of a line, or columns 2 and 4; other lines are left out") {
  using Pairs = std::vector<SentencePair>;
  const Pairs two{{"Go.", "Va !", "line 1"}, {"Hi.", "Salut !", "line 2"}};
  for (const auto& [text, pairs, left_out] :
       {std::tuple<std::string, Pairs, std::string>{"Go.\tVa !\tCC-BY\tmore\nHi.\tSalut !\n", two, "none left out"},
        // A byte order mark, carriage returns and a last line without an end are no part of the pairs.
        {"\xEF\xBB\xBFGo.\tVa !\r\nHi.\tSalut !\tx\r\n", two, "none left out"},
        {"Go.\tVa !\nHi.\tSalut !", two, "none left out"},
        // An export that numbers its sentences has them in columns 2 and 4.
        {"1276\tGo.\t2481\tVa !\n1277\tHi.\t2482\tSalut !\tCC-BY\r\n", two, "none left out"},
        {"12\tdouze\t13\n12\tdouze\tx\ty\nx\ty\t1\tz",
         {{"12", "douze", "line 1"}, {"12", "douze", "line 2"}, {"x", "y", "line 3"}},
         "none left out"},
        {"1\ta\t2\t\nb\tc", {{"b", "c", "line 2"}}, "1 left out: line 1 has numbers, and not two sentences"},
        {"Go.\tVa !\nHi.\tSalut !\nno tab\n\n\tVa !\nGo.\t\n", two,
         "4 left out: line 3 has no tab; line 4 is empty; line 5 has nothing before the first tab; …"},
        {"a\tb\na\t\t\n\xE9\tb\nb\t\xE9\n",
         {{"a", "b", "line 1"}},
         "3 left out: line 2 has nothing after the first tab; line 3 is not in UTF-8; line 4 is not in UTF-8"}}) {
    const auto read = pairs_of_lines(text, "fra.txt");
    CHECK(read.pairs == pairs);
    CHECK(sentence_of(read.left_out) == left_out);
  }
  CHECK(pairs_of_lines("1\ta\t2\tb\n3\tc\t4\td\ne\tf\n", "fra.txt").numbered == 2);
  // The same of a single line, wherever it is read.
  CHECK(bare_line("\xEF\xBB\xBFGo.\r") == "Go.");
}

TEST_CASE("what has no pairs is refused by one sentence") {
  CHECK(refusal_of("a\tb") == "");
  CHECK(refusal_of("") == "fra.txt is empty: there are no pairs in it");
  CHECK(refusal_of("\xEF\xBB\xBF") == "fra.txt is empty: there are no pairs in it");
  CHECK(refusal_of(std::string("a\tb\nc\0\td", 8)) == "fra.txt is not a text in UTF-8: there is a byte 0 in line 2");
  CHECK(
      refusal_of("one\ntwo\nthree\nfour\n") ==
      "fra.txt has no line of a sentence, a tab and its translation: 4 left out: line 1 has no tab; line 2 has no tab; "
      "line 3 has no tab; …");
}

TEST_CASE("what is no file is refused with its path") {
  CHECK(refusal([] { read_pairs("/nonexistent"); }) == "cannot read /nonexistent: No such file or directory");
  CHECK(refusal([] { read_pairs("/dev/zero"); }) == "cannot read /dev/zero: it is not a file");
  CHECK(refusal([] { read_pairs("/"); }) == "cannot read /: it is not a file");
}

TEST_CASE("UTF-8 is what the standard says, to the bit") {
  // Cut off; a second byte first, or none; too many bytes for one character; a surrogate; too large; no first byte.
  for (const char* const text :
       {"\xC3", "a\xE2\x82", "\xF0\x9F\x98", "\xA9", "\xC3\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
        "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF"})
    CHECK_FALSE(is_utf8(text));
  for (char32_t character = 0; character <= 0x10FFFF; ++character) {
    if (character == 0xD800) character = 0xE000;
    std::string text;
    append_character(text, character);
    std::string_view rest = text;
    if (take_character(rest) != character || !rest.empty()) FAIL("U+" << std::uint32_t(character));
  }
  CHECK(in_quotes("~\x7F\x1B[é\xFF\xC2\x80") == "\"~\\x7F\\x1B[é\\xFF\\xC2\\x80\"");
}

TEST_CASE("chrF is 1 for the same texts, 0 where nothing is shared, and counts recall twice") {
  const auto score = [](const char* text, const char* reference) {
    CharacterFScore f;
    f.add(text, reference);
    return f.value();
  };
  CHECK(score("un deux", "un deux") == doctest::Approx(1).epsilon(1e-15));
  CHECK(score("undeux", "un deux") == doctest::Approx(1).epsilon(1e-15));  // white space does not count
  CHECK(score("xyz", "abc") == 0);
  CHECK(score("", "abc") == 0);
  // "ab" against "abc": runs of 1: P = 2/2, R = 2/3; of 2: P = 1/1, R = 1/2; of 3: P = 0, R = 0/1. Means P = 2/3, R = 7/18.
  const double P = 2.0 / 3, R = 7.0 / 18;
  CHECK(score("ab", "abc") == doctest::Approx(5 * P * R / (4 * P + R)).epsilon(1e-14));
  CHECK(score("é", "è") == 0);                      // one character, and not two bytes, one of which is the same
  const auto runs = shared_runs("aaab", "aab", 1);  // every run as often as it occurs
  CHECK(runs.shared == 3);
  CHECK(runs.in_text == 4);
  CHECK(runs.in_reference == 3);
}

TEST_CASE("the nearest sentence is the one that shares the greatest part of its runs") {
  const std::vector<SentencePair> pairs{{"open the file", "1", ""},
                                        {"close the file", "2", ""},
                                        {"no", "3", ""},
                                        {"note that nothing was opened", "4", ""}};
  const NearestSentence nearest{pairs};
  CHECK(nearest("close a file").target == "2");
  CHECK(nearest("open the file now").target == "1");
  CHECK(nearest("not").target == "3");  // though 4 has all of its runs
}

TEST_CASE("a text as UTF-8: what is none is replaced, byte by byte, and what is stays") {
  CHECK(program::as_utf8("aé€𝄞\n") == "aé€𝄞\n");
  CHECK(program::as_utf8("\xC3") == "\xEF\xBF\xBD");
  CHECK(program::as_utf8("a\xE2\x82z\xFF") == "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD");
  CHECK(program::as_utf8("").empty());
}

TEST_CASE("words are runs of letters and digits, capital letters being small ones") {
  CHECK(words_of("The cat's bike, the 42-cat.") == std::set<std::string>{"the", "cat", "s", "bike", "42"});
  CHECK(words_of("…").size() == 1);
  CHECK(words_of("Да \xFF") == std::set<std::string>{"Да", "\xFF"});
  CHECK(words_of(" ,.\n").empty());
  // A letter with a mark is left out of its word, as one character and as two.
  const std::set<std::string> words{"cafs", "7", "t"};
  CHECK(words_of("cafés 7, été") == words);                              // NFC
  CHECK(words_of("cafe\u0301s 7, e\u0301te\u0301") == words);            // NFD
  CHECK(words_of("cafe\u0302\u0323s 7, \u1EC7t\u1EB9\u0302") == words);  // two marks, in one character or several
  CHECK(words_of("CAFÉS 7 E\u0301tÉ") == words);
  CHECK(words_of("caf 7") != words_of("cafe 7"));
  CHECK(words_of("1\u0301 и\u0306") == std::set<std::string>{"1", "и"});  // no Latin letters
}

TEST_CASE(
    "no set of words is on both sides, about one pair in n is held out, and which ones does not depend on the other "
    "pairs") {
  const auto pairs = sentences();
  const auto sides = split_by_words(pairs, 5);
  CHECK(sides.training.size() + sides.held_out.size() == pairs.size());
  CHECK(apart(sides));
  CHECK(sides.held_out.size() > 100);
  CHECK(sides.held_out.size() < 300);
  std::vector<SentencePair> one_by_one;
  for (const SentencePair& pair : pairs)
    for (const SentencePair& held_out : split_by_words({pair}, 5).held_out) one_by_one.push_back(held_out);
  CHECK(one_by_one == sides.held_out);
  // It is the same on every machine.
  CHECK(sides.held_out.front().source == "red, red Blue!");

  // Control: every fifth held out, whatever its words.
  TrainingAndHeldOut by_place;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    (i % 5 == 0 ? by_place.held_out : by_place.training).push_back(pairs[i]);
  CHECK_FALSE(apart(by_place));

  for (const std::size_t one_in : {std::size_t(0), std::size_t(1)})
    CHECK(refusal([&] { split_by_words(pairs, one_in); }) ==
          "one pair in " + std::to_string(one_in) +
              " cannot be held out: it takes one in 2 or more to leave some to learn from");
}

TEST_CASE("pairs as tokens: those that are too long are left out and told by their lines") {
  const auto read = pairs_of_lines("Go.\tVa !\nStop!\tArrête !\nNo.\tNon.\n", "fra.txt");
  CHECK(lines_of(read.pairs) == "Go.\nVa !\nStop!\nArrête !\nNo.\nNon.\n");
  const BytePairs<259> bytes;
  const auto tokens = tokens_of(read.pairs, bytes, 6);
  REQUIRE(tokens.sources.size() == 2);
  CHECK(tokens.sources[0] == std::vector<Token>{256, 'G', 'o', '.', 257});
  CHECK(tokens.targets[0] == std::vector<Token>{256, 'V', 'a', ' ', '!', 257});
  CHECK(tokens.targets[1] == std::vector<Token>{256, 'N', 'o', 'n', '.', 257});
  REQUIRE(tokens.pairs.size() == 2);
  CHECK(tokens.pairs[0].source == "Go.");
  CHECK(tokens.pairs[1].target == "Non.");
  CHECK(sentence_of(tokens.left_out) == "1 left out: line 2 has a sentence of 11 tokens: max_len is 6");
  CHECK(tokens_of(read.pairs, bytes, 11).left_out.size() == 0);
  CHECK(tokens_of(read.pairs, bytes, 5).left_out.size() == 3);
}

}  // namespace tlm::tests::in_pairs
