// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <examples/translate/numbers_in_words.hpp>

namespace tlm::tests::in_numbers_in_words {

namespace {

struct Known {
  int number;
  std::string french;
};

/// Written by hand: each rule of the grammar, where it applies and where it does not. Which number a word is, is tested
/// where words are read.
const std::vector<Known> known{
    {0, "zéro"},
    {1, "un"},
    {17, "dix-sept"},
    {21, "vingt et un"},
    {22, "vingt-deux"},
    {61, "soixante et un"},
    {70, "soixante-dix"},
    {71, "soixante et onze"},
    {72, "soixante-douze"},
    {77, "soixante-dix-sept"},
    {80, "quatre-vingts"},
    {81, "quatre-vingt-un"},
    {90, "quatre-vingt-dix"},
    {91, "quatre-vingt-onze"},
    {97, "quatre-vingt-dix-sept"},
    {100, "cent"},
    {101, "cent un"},
    {180, "cent quatre-vingts"},
    {200, "deux cents"},
    {201, "deux cent un"},
    {280, "deux cent quatre-vingts"},
    {1'000, "mille"},
    {1'001, "mille un"},
    {1'080, "mille quatre-vingts"},
    {1'200, "mille deux cents"},
    {2'000, "deux mille"},
    {71'000, "soixante et onze mille"},
    {80'000, "quatre-vingt mille"},
    {80'080, "quatre-vingt mille quatre-vingts"},
    {81'000, "quatre-vingt-un mille"},
    {81'499, "quatre-vingt-un mille quatre cent quatre-vingt-dix-neuf"},
    {91'091, "quatre-vingt-onze mille quatre-vingt-onze"},
    {101'000, "cent un mille"},
    {200'000, "deux cent mille"},
    {200'200, "deux cent mille deux cents"},
    {280'000, "deux cent quatre-vingt mille"},
    {999'999, "neuf cent quatre-vingt-dix-neuf mille neuf cent quatre-vingt-dix-neuf"},
    {1'000'000, "un million"},
    {1'001'000, "un million mille"},
    {1'001'001, "un million mille un"},
    {2'000'000, "deux millions"},
    {2'002'002, "deux millions deux mille deux"},
    {80'000'000, "quatre-vingts millions"},
    {80'080'080, "quatre-vingts millions quatre-vingt mille quatre-vingts"},
    {200'000'000, "deux cents millions"},
    {200'200'200, "deux cents millions deux cent mille deux cents"},
    {999'999'999,
     "neuf cent quatre-vingt-dix-neuf millions neuf cent quatre-vingt-dix-neuf mille neuf cent quatre-vingt-dix-neuf"},
};

/// Of how many of the known numbers a function gives other words.
int wrong(auto&& french) {
  int wrong = 0;
  for (const auto& [number, words] : known) wrong += french(number) != words;
  return wrong;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

/// The number that words in either language mean, read from the left. Each word is added, or multiplies what came
/// before.
int number_of(const std::string& words) {
  static const std::map<std::string, int> values = [] {
    std::map<std::string, int> known_words{{"zero", 0},    {"zéro", 0},    {"et", 0},
                                           {"vingts", 20}, {"thirty", 30}, {"forty", 40}};
    const std::array english{"",         "one",     "two",     "three",     "four",     "five",     "six",
                             "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
                             "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
    const std::array french{"",     "un",  "deux", "trois", "quatre", "cinq",     "six",    "sept", "huit",
                            "neuf", "dix", "onze", "douze", "treize", "quatorze", "quinze", "seize"};
    const std::array tens{"fifty", "sixty", "seventy", "eighty", "ninety"};
    const std::array dizaines{"vingt", "trente", "quarante", "cinquante", "soixante"};
    for (int i = 1; i <= 20; ++i) known_words[english[std::size_t(i)]] = i;
    for (int i = 1; i <= 16; ++i) known_words[french[std::size_t(i)]] = i;
    for (int i = 0; i < 5; ++i) known_words[tens[std::size_t(i)]] = 50 + 10 * i;
    for (int i = 0; i < 5; ++i) known_words[dizaines[std::size_t(i)]] = 20 + 10 * i;
    return known_words;
  }();
  std::istringstream in{replaced(words, "-", " ")};
  int total = 0, group = 0;
  for (std::string word; in >> word;) {
    if (word.starts_with("million")) {
      total += group * 1'000'000;
      group = 0;
    } else if (word == "thousand" || word == "mille") {
      total += (group == 0 ? 1 : group) * 1'000;
      group = 0;
    } else if (word == "hundred" || word == "cent" || word == "cents") {
      group = (group == 0 ? 1 : group) * 100;
    } else if (word.starts_with("vingt") && group % 100 == 4) {
      group += 76;
    } else {
      group += values.at(word);
    }
  }
  return total + group;
}

/// All up to 2,000, and others of all lengths.
std::set<int> sample() {
  std::set<int> numbers;
  for (int number = 0; number <= 2'000; ++number) numbers.insert(number);
  for (const int high : {1, 21, 71, 80, 81, 100, 180, 200, 999})
    for (const int middle : {0, 1, 71, 80, 100, 200, 280})
      for (const int low : {0, 1, 80, 100, 200, 999}) numbers.insert(1'000'000 * high + 1000 * middle + low);
  Generator generator{1};
  const NumbersInWords task;
  for (int i = 0; i < 3'000; ++i) numbers.insert(task.training_number(generator));
  return numbers;
}

/// The number of digits.
std::size_t length(int number) { return std::to_string(number).size(); }

}  // namespace

TEST_CASE("French numbers, known ones") {
  REQUIRE(known.size() >= 45);
  for (const auto& [number, words] : known) CHECK(NumbersInWords::french(number) == words);
}

TEST_CASE("control: each rule of French is needed for the known ones") {
  const auto by = [](const std::string& what, const std::string& other) {
    return wrong([&](int number) { return replaced(NumbersInWords::french(number), what, other); });
  };
  CHECK(wrong(NumbersInWords::french) == 0);
  CHECK(by(" et un", "-un") > 0);
  CHECK(by("soixante et onze", "soixante-onze") > 0);
  CHECK(by("quatre-vingt-un", "quatre-vingt et un") > 0);
  CHECK(by("quatre-vingt-onze", "quatre-vingt et onze") > 0);
  CHECK(by("vingts", "vingt") > 0);
  CHECK(by("cents", "cent") > 0);
  CHECK(by("vingt mille", "vingts mille") > 0);
  CHECK(by("deux cent mille", "deux cents mille") > 0);
  CHECK(by("vingts millions", "vingt millions") > 0);
  CHECK(by("cents millions", "cent millions") > 0);
  CHECK(by("un million ", "un millions ") > 0);
  CHECK(by("million mille", "million un mille") > 0);
}

TEST_CASE("English numbers, known ones") {
  for (const auto& [number, words] : {std::pair{0, "zero"},
                                      {1, "one"},
                                      {21, "twenty-one"},
                                      {100, "one hundred"},
                                      {101, "one hundred one"},
                                      {342, "three hundred forty-two"},
                                      {1'000, "one thousand"},
                                      {1'001, "one thousand one"},
                                      {1'100, "one thousand one hundred"},
                                      {81'499, "eighty-one thousand four hundred ninety-nine"},
                                      {1'000'000, "one million"},
                                      {1'001'000, "one million one thousand"},
                                      {999'999'999,
                                       "nine hundred ninety-nine million nine hundred ninety-nine thousand "
                                       "nine hundred ninety-nine"}})
    CHECK(NumbersInWords::english(number) == words);
}

// So distinct numbers have distinct words.
TEST_CASE("the words of each number are read as this number, in both languages") {
  for (const int number : sample()) {
    if (number_of(NumbersInWords::english(number)) != number) FAIL(NumbersInWords::english(number));
    if (number_of(NumbersInWords::french(number)) != number) FAIL(NumbersInWords::french(number));
  }
  CHECK(number_of("deux cent mille") != number_of("deux mille cent"));
}

TEST_CASE("what is held out is never drawn to learn from; short numbers are as frequent as long ones") {
  const NumbersInWords task{6, 10};
  Generator generator{2};
  std::map<std::size_t, int> training, held_out;
  for (int i = 0; i < 6000; ++i) {
    const int learned = task.training_number(generator), kept = task.held_out_number(generator);
    CHECK_FALSE(task.held_out(learned));
    CHECK(task.held_out(kept));
    ++training[length(learned)];
    ++held_out[length(kept)];
  }
  CHECK(training.size() == 6);
  for (const auto& [digits, times] : training) CHECK((times > 800 && times < 1200));
  for (const auto& [digits, times] : held_out) CHECK((digits == 1 || (times > 800 && times < 1500)));
  CHECK(held_out.size() >= 5);
  int all = 0;
  for (int number = 0; number < 100'000; ++number) all += task.held_out(number);
  CHECK(all > 9'700);
  CHECK(all < 10'300);
  // Whether a number is held out does not depend on how many digits others have.
  for (int number = 0; number < 1000; ++number) CHECK(task.held_out(number) == NumbersInWords{3, 10}.held_out(number));
  for (int one_in = 2; one_in < 100; ++one_in) CHECK_FALSE(NumbersInWords(9, one_in).held_out(0));

  // Control: of numbers drawn evenly, hardly any is short.
  std::map<std::size_t, int> evenly;
  for (int i = 0; i < 6000; ++i) ++evenly[length(generator.integer(0, 999'999))];
  CHECK(evenly[3] < 800);
}

TEST_CASE("the first numbers of a seed are the same everywhere") {
  Generator generator{1};
  const NumbersInWords task;
  std::vector<int> drawn;
  for (int i = 0; i < 4; ++i) drawn.push_back(task.training_number(generator));
  drawn.push_back(task.held_out_number(generator));
  CHECK(drawn == std::vector<int>{832'462, 6, 9, 865, 4'780'511});
  CHECK(NumbersInWords::pair(81'499) == tlm::SentencePair{"eighty-one thousand four hundred ninety-nine",
                                                          "quatre-vingt-un mille quatre cent quatre-vingt-dix-neuf",
                                                          "81499"});
}

TEST_CASE("what there are no words for, and no task, is refused") {
  CHECK_THROWS_WITH_AS(NumbersInWords::french(-1), "words are given for the numbers 0 to 999999999, not for -1",
                       std::out_of_range);
  CHECK_THROWS_WITH_AS(NumbersInWords::english(1'000'000'000),
                       "words are given for the numbers 0 to 999999999, not for 1000000000", std::out_of_range);
  for (const auto& [digits, one_in, sentence] :
       {std::tuple{0, 10, "numbers in words have 1 to 9 digits, not 0"},
        {10, 10, "numbers in words have 1 to 9 digits, not 10"},
        {9, 1, "one number in 2 to one in 1000 can be held out, not one in 1"},
        {9, 1001, "one number in 2 to one in 1000 can be held out, not one in 1001"},
        {1, 1000, "with one in 1000, none of the numbers below 10 is held out"}})
    CHECK_THROWS_WITH_AS((NumbersInWords{digits, one_in}), sentence, std::invalid_argument);
}

}  // namespace tlm::tests::in_numbers_in_words
