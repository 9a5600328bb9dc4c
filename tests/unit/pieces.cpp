// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/text/pieces.hpp>

namespace tlm::tests::in_pieces {

namespace {

using Pieces = std::vector<std::string>;

Pieces pieces(std::string_view text) {
  Pieces pieces;
  for (; !text.empty(); text.remove_prefix(pieces.back().size())) pieces.emplace_back(first_piece(text));
  return pieces;
}

/// GPT-2's expression, for ASCII.
constexpr const char* gpt_2 = "'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\\sA-Za-z0-9]+|\\s+(?!\\S)|\\s+";
/// One that keeps white space together.
constexpr const char* other = "'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\\sA-Za-z0-9]+|\\s+";

/// For how many random texts of these characters the pieces differ from those that a regular expression finds.
int others_than(const std::string& expression, const std::string& characters) {
  const std::regex regex{expression};
  tlm::Generator generator{1};
  int wrong = 0;
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (int length = generator.integer(0, 12); length > 0; --length)
      text.push_back(characters[std::size_t(generator.integer(0, int(characters.size()) - 1))]);
    wrong += pieces(text) != Pieces{std::sregex_token_iterator(text.begin(), text.end(), regex), {}};
  }
  return wrong;
}

}  // namespace

TEST_CASE("pieces of some texts") {
  CHECK(pieces("I'll  see 42 cats' \n eyes!!") ==
        Pieces{"I", "'ll", " ", " see", " 42", " cats", "'", " \n", " eyes", "!!"});
  CHECK(pieces("a1b 2c  ") == Pieces{"a", "1", "b", " 2", "c", "  "});
  CHECK(pieces("déjà vu ") == Pieces{"déjà", " vu", " "});
  CHECK(pieces("DÉJÀ VU ") == Pieces{"DÉJÀ", " VU", " "});  // the last byte of À is 128
  CHECK(pieces("").empty());
}

TEST_CASE("on ASCII the pieces are those of GPT-2's expression") {
  std::string visible;
  for (char c = ' '; c < '\x7F'; ++c) visible.push_back(c);
  CHECK(others_than(gpt_2, visible) == 0);
  CHECK(others_than(gpt_2, "a7! \t\n\v\f\r") == 0);
  CHECK(others_than(gpt_2, "aZstlre  \n\t''7!_") == 0);
}

TEST_CASE("control: the pieces are not those of another expression") { CHECK(others_than(other, "a  \n") > 0); }

}  // namespace tlm::tests::in_pieces
