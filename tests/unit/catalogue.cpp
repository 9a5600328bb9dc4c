// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <examples/translate/catalogue.hpp>
#include <tlm/base/generator.hpp>

#include "../printing.hpp"

namespace tlm::tests::in_catalogue {

namespace {

using Messages = std::vector<std::pair<std::string, std::string>>;

std::string word_of(std::size_t number, bool reversed = false) {
  std::string word;
  for (int i = 0; i < 4; ++i) word.push_back(char(number >> (8 * (reversed ? 3 - i : i))));
  return word;
}

/// A catalogue as msgfmt writes it: seven words, from minor revision 1 on twelve, the two tables, the strings. So many more
/// messages depend on the system; their tables are not there.
std::string catalogue(const Messages& messages, bool reversed = false, std::size_t revision = 0,
                      std::size_t in_pieces = 0) {
  const std::size_t count = messages.size(), tables = revision % 0x10000 == 0 ? 28 : 48;
  std::string bytes, strings;
  for (const std::size_t number :
       {std::size_t(0x950412de), revision, count, tables, tables + 8 * count, std::size_t(0), tables + 16 * count})
    bytes += word_of(number, reversed);
  if (tables == 48)
    for (const std::size_t number : {std::size_t(0), tables, in_pieces, tables, tables})
      bytes += word_of(number, reversed);
  const auto append = [&](const std::string& text) {
    bytes += word_of(text.size(), reversed) + word_of(tables + 16 * count + strings.size(), reversed);
    strings += text + '\0';
  };
  for (const auto& message : messages) append(message.first);
  for (const auto& message : messages) append(message.second);
  return bytes + strings;
}

std::pair<std::string, std::string> header(const std::string& charset) {
  return {"", "Project-Id-Version: x\nContent-Type: text/plain; charset=" + charset + "\nPlural-Forms: nplurals=2;\n"};
}

Messages messages_of(const SentencePairs& read) {
  Messages messages;
  for (const SentencePair& pair : read.pairs) messages.emplace_back(pair.source, pair.target);
  return messages;
}

Messages messages_of(const std::string& bytes) { return messages_of(pairs_of_catalogue(bytes, "x.mo")); }

std::string refusal_of(const std::string& bytes) {
  return refusal([&] { pairs_of_catalogue(bytes, "x.mo"); });
}

/// The word in place `index` replaced.
std::string with_word(std::string bytes, std::size_t index, std::size_t number) {
  return bytes.replace(4 * index, 4, word_of(number));
}

const Messages plain{header("UTF-8"), {"Open", "Ouvrir"}, {"Save\n", "Enregistrer\n"}};

}  // namespace

TEST_CASE("the messages of a catalogue, in both orders of bytes and both revisions") {
  const Messages expected{{"Open", "Ouvrir"}, {"Save\n", "Enregistrer\n"}};
  CHECK(messages_of(catalogue(plain)) == expected);
  CHECK(messages_of(catalogue(plain, true)) == expected);
  CHECK(messages_of(catalogue(plain, true, 0x10000)) == expected);
  CHECK(pairs_of_catalogue(catalogue(plain), "x.mo").pairs[0].place == "message 2 of x.mo");
  CHECK(pairs_of_catalogue(catalogue(plain), "x.mo").left_out.size() == 0);
  CHECK(catalogue(plain) != catalogue(plain, true));
}

TEST_CASE("messages that depend on the system, such as %<PRIu64>, are counted") {
  for (const bool reversed : {false, true}) {
    const auto read = pairs_of_catalogue(catalogue(plain, reversed, 0x10001, 2), "x.mo");
    CHECK(messages_of(read) == messages_of(catalogue(plain)));
    CHECK(sentence_of(read.left_out) ==
          "2 left out: message 4 of x.mo depends on the system; message 5 of x.mo depends on the system");
  }
  const std::string no = "x.mo is not a catalogue of gettext: it claims ", short_of = ", for which it is too short";
  CHECK(refusal_of(catalogue(plain, false, 1, 1000)) == no + "1000 messages" + short_of);
  const std::string without_words = catalogue({}, false, 1).substr(0, 40);
  CHECK(refusal_of(with_word(with_word(without_words, 3, 28), 4, 28)) == no + "12 words" + short_of);
}

TEST_CASE("plural forms and contexts") {
  using namespace std::string_literals;
  CHECK(messages_of(catalogue({header("UTF-8"),
                               {"%d file\0%d files"s, "%d fichier\0%d fichiers"s},
                               {"menu\4Open", "Ouvrir"},
                               {"menu\4a day\0days"s, "jour\0de jours\0jours"s},
                               {"sheep\0many sheep"s, "moutons"}})) == Messages{{"%d file", "%d fichier"},
                                                                                {"%d files", "%d fichiers"},
                                                                                {"Open", "Ouvrir"},
                                                                                {"a day", "jour"},
                                                                                {"days", "jours"},
                                                                                {"many sheep", "moutons"}});
  const auto read = pairs_of_catalogue(catalogue({header("UTF-8"),
                                                  {"a", ""},
                                                  {"b\0c\0d"s, "x\0y"s},
                                                  {"e", "x\0y"s},
                                                  {"f\0g"s, "x\0"s},
                                                  {"menu\4", "x"},
                                                  {"h", "x"}}),
                                       "x.mo");
  CHECK(messages_of(read) == Messages{{"f", "x"}, {"h", "x"}});
  CHECK(read.left_out.size() == 5);
  CHECK(sentence_of(read.left_out) ==
        "5 left out: message 2 of x.mo has no translation; message 3 of x.mo has 3 originals and 2 translations; "
        "message 4 of x.mo has 1 originals and 2 translations; …");
}

TEST_CASE("the charset that the header names") {
  const auto in = [](const std::string& charset, const std::string& translation) {
    return pairs_of_catalogue(catalogue({header(charset), {"a", translation}, {"z", "z"}}), "x.mo");
  };
  for (const char* const charset : {"UTF-8", "utf-8", "UTF8"}) CHECK(in(charset, "été").pairs[0].target == "été");
  CHECK(in("iso-8859-1", "\xE9t\xE9 \xA4\xBD").pairs[0].target == "été ¤½");
  CHECK(in("ISO-8859-15", "\xE9t\xE9 \xA4\xA6\xA8\xB4\xB8\xBC\xBD\xBE\xA5").pairs[0].target == "été €ŠšŽžŒœŸ¥");
  CHECK(in("ASCII", "x").pairs[0].target == "x");
  const auto left_out = [](const Messages& messages) {
    return sentence_of(pairs_of_catalogue(catalogue(messages), "x.mo").left_out);
  };
  const char* const silent = "1 left out: all of x.mo, which does not say its charset";
  for (const char* const charset : {"UTF-8", "ASCII"})
    CHECK(left_out({header(charset), {"a", "\xE9"}}) == "1 left out: message 2 of x.mo is not in UTF-8");
  CHECK(left_out({header("KOI8-R"), {"a", "x"}}) == "1 left out: all of x.mo, whose charset is \"KOI8-R\"");
  CHECK(left_out({header(""), {"a", "x"}}) == silent);
  CHECK(left_out({{"", "Language: fr\n"}, {"a", "b"}}) == silent);
  CHECK(left_out({{"a", "b"}}) == silent);
  CHECK(left_out({}) == silent);
}

TEST_CASE("what is no catalogue is refused") {
  const std::string no = "x.mo is not a catalogue of gettext: ", whole = catalogue(plain);
  CHECK(refusal_of(whole) == "");
  CHECK(refusal_of("") == no + "it does not begin like one");
  CHECK(refusal_of(whole.substr(0, 27)) == no + "it does not begin like one");
  CHECK(refusal_of(with_word(whole, 0, 0x950412dd)) == no + "it does not begin like one");
  CHECK(refusal_of(with_word(whole, 1, 0x20000)) == no + "its format is of revision 2, and only 0 and 1 are known");
  const auto claims = [&](std::size_t count) {
    return no + "it claims " + std::to_string(count) + " messages, for which it is too short";
  };
  CHECK(refusal_of(with_word(whole, 2, whole.size() / 8)) == claims(whole.size() / 8));
  CHECK(refusal_of(with_word(whole, 3, whole.size() - 23)) == claims(3));
  CHECK(refusal_of(with_word(whole, 4, 0xFFFFFFF8)) == claims(3));
  // The length and the place of the second original, and what follows it.
  const std::string second = no + "message 2 does not end within it";
  CHECK(refusal_of(with_word(whole, 9, 0xFFFFFFFF)) == second);
  CHECK(refusal_of(with_word(whole, 9, 3)) == second);
  CHECK(refusal_of(with_word(whole, 10, 0xFFFFFFFF)) == second);
  CHECK(refusal_of(with_word(whole, 10, whole.size() - 4)) == second);
  CHECK(refusal_of(with_word(whole, 10, whole.size() - 5)) == "");
  CHECK(refusal_of(whole.substr(0, whole.size() - 1)) == no + "message 3 does not end within it");

  // A thousand messages that are one long string.
  Messages same(1000, {"", ""});
  std::string small = catalogue(same);
  for (std::size_t i = 0; i < 1000; ++i) small = with_word(with_word(small, 7 + 2 * i, 9000), 8 + 2 * i, small.size());
  small += std::string(9000, 'x') + '\0';
  CHECK(refusal_of(small) == no + "it claims more text than it has bytes");
}

TEST_CASE("bytes changed at random are refused or read, and nothing else happens (with sanitizers this says more)") {
  Generator generator{1};
  int refused = 0, read = 0;
  const Messages messages{header("ISO-8859-15"), {"Open", "Ouvrir"}, {std::string("a\0b", 3), std::string("c\0d", 3)}};
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = catalogue(messages, i % 2 == 0, i % 3 == 0, 2);
    for (int changes = generator.integer(1, 3); changes > 0; --changes)
      bytes[std::size_t(generator.integer(0, int(bytes.size()) - 1))] = char(generator.integer(0, 255));
    if (generator.integer(0, 3) == 0) bytes.resize(std::size_t(generator.integer(0, int(bytes.size()))));
    try {
      pairs_of_catalogue(bytes, "x.mo");
      ++read;
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK(read > 500);
  CHECK(refused > 500);
}

TEST_CASE("all catalogues of a language: every pair once, in the order of their names, and what was left out") {
  const auto root = std::filesystem::temp_directory_path() / ("tlm-catalogues-" + std::to_string(getpid()));
  const auto directory = root / "fr" / "LC_MESSAGES";
  std::filesystem::create_directories(directory);
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream{directory / name, std::ios::binary} << bytes;
  };
  // Where there are none it is said what to install.
  const std::string none = "no translations into fr are in " + directory.string() + " (";
  const std::string install =
      "): install programs that bring some, on Debian apt-get install --reinstall coreutils gettext iso-codes git; a "
      "slim image drops them as long as a path-exclude in /etc/dpkg/dpkg.cfg.d says so";
  CHECK(refusal([&] { installed_pairs("fr", root); }) == none + "0 catalogues, none left out" + install);
  write("a.mo", "");
  CHECK(refusal([&] { installed_pairs("fr", root); }) ==
        none + "1 catalogues, 1 left out: a.mo is not a catalogue of gettext: it does not begin like one" + install);

  write("b.mo", catalogue({header("UTF-8"), {"Open", "Ouvrir"}, {"Open", "Ouvert"}, {"No", "Non"}}));
  write("a.mo", catalogue(plain));
  write("c.mo", "no catalogue");
  write("d.mo", catalogue({header("EUC-JP"), {"Open", "x"}}));
  write("e.txt", catalogue({header("UTF-8"), {"Exit", "Quitter"}}));
  const auto read = installed_pairs("fr", root);
  std::filesystem::remove_all(root);
  CHECK(messages_of(read) ==
        Messages{{"Open", "Ouvrir"}, {"Save\n", "Enregistrer\n"}, {"Open", "Ouvert"}, {"No", "Non"}});
  CHECK(read.pairs[3].place == "message 4 of b.mo");
  CHECK(sentence_of(read.left_out) ==
        "2 left out: c.mo is not a catalogue of gettext: it does not begin like one; all of d.mo, whose charset is "
        "\"EUC-JP\"");
  CHECK(refusal([] { installed_pairs(""); }) == "\"\" is no language: one is named like fr, pt_BR or sr@latin");
}

}  // namespace tlm::tests::in_catalogue
