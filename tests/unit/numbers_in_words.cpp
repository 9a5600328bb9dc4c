// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <examples/translate/numbers_in_words.hpp>

namespace tlm::tests::in_numbers_in_words {

namespace {

/// Written by hand: each rule of the grammar, where it applies and where it does not. Which number a word is, is tested
/// where words are read.
const std::map<int, std::string> known{
    {0, "zéro"},
    {21, "vingt et un"},
    {71, "soixante et onze"},
    {77, "soixante-dix-sept"},
    {80, "quatre-vingts"},
    {81, "quatre-vingt-un"},
    {201, "deux cent un"},
    {1'000, "mille"},
    {81'000, "quatre-vingt-un mille"},
    {91'091, "quatre-vingt-onze mille quatre-vingt-onze"},
    {101'000, "cent un mille"},
    {1'001'000, "un million mille"},
    {80'080'080, "quatre-vingts millions quatre-vingt mille quatre-vingts"},
    {200'200'200, "deux cents millions deux cent mille deux cents"},
};

/// The number that words in either language mean, read from the left. Each word is added, or multiplies what came
/// before.
int number_of(std::string words) {
  static const std::map<std::string, int> values = [] {
    std::map<std::string, int> known_words{{"zero", 0}, {"zéro", 0}, {"et", 0}, {"vingts", 20}};
    const auto add = [&](int number, int step, const std::string& in_words) {
      std::istringstream in{in_words};
      for (std::string word; in >> word; number += step) known_words[word] = number;
    };
    add(1, 1, "one two three four five six seven eight nine ten eleven twelve");
    add(13, 1, "thirteen fourteen fifteen sixteen seventeen eighteen nineteen");
    add(20, 10, "twenty thirty forty fifty sixty seventy eighty ninety");
    add(1, 1, "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize");
    add(20, 10, "vingt trente quarante cinquante soixante");
    return known_words;
  }();
  std::replace(words.begin(), words.end(), '-', ' ');
  std::istringstream in{words};
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

/// The number of digits.
std::size_t length(int number) { return std::to_string(number).size(); }

}  // namespace

TEST_CASE("French numbers, known ones") {
  for (const auto& [number, words] : known) CHECK(NumbersInWords::french(number) == words);
}

TEST_CASE("English numbers, known ones") {
  for (const auto& [number, words] : {std::pair{0, "zero"},
                                      {21'342, "twenty-one thousand three hundred forty-two"},
                                      {1'001'101, "one million one thousand one hundred one"}})
    CHECK(NumbersInWords::english(number) == words);
}

// So distinct numbers have distinct words.
TEST_CASE("the words of each number are read as this number, in both languages") {
  for (int group = 0; group < 1000; ++group)
    for (const int place : {1, 1'000, 1'001, 1'000'000, 1'000'001, 1'001'000, 1'001'001}) {
      const int number = group * place;
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
  CHECK((training.size() == 6 && held_out.size() == 6));
  for (const auto& [digits, times] : training) CHECK((times > 800 && times < 1200));
  for (const auto& [digits, times] : held_out) CHECK((digits == 1 || (times > 800 && times < 1500)));
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
