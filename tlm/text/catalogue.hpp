// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tlm/matrix/refuse.hpp>
#include <tlm/text/pairs.hpp>

/// Catalogues of gettext (.mo), in which programs bring the translations of what they say: the pairs that every Linux has.
namespace tlm {

/// The strings of a catalogue as they stand in it. (GNU gettext manual, "The Format of GNU MO Files".)
///
/// It begins with words of four bytes, in either order: the magic number 0x950412de, the revision, the number of messages, and
/// where the tables of the originals and of the translations are; a table has for each message the length of a string and
/// where it is, and behind each string there is a byte 0. What the words claim is compared with the size of the file before it
/// is believed.
class CatalogueStrings {
 public:
  /// Throws std::invalid_argument for what is no catalogue, with the name by which to call it. The strings lie in `bytes`.
  CatalogueStrings(std::string_view bytes, const std::string& name) : bytes_{bytes}, name_{name} {
    constexpr std::size_t header = 28;
    constexpr std::uint32_t magic = 0x950412de, reversed_magic = 0xde120495;
    const std::uint32_t found = bytes.size() < header ? 0 : word(0);
    if (found != magic && found != reversed_magic) refuse("it does not begin like one");
    reversed_ = found == reversed_magic;
    if (const std::uint32_t major = word(4) >> 16; major > 1)
      refuse("its format is of revision " + std::to_string(major) + ", and only 0 and 1 are known");
    const std::uint64_t count = word(8);
    // Together the strings are no longer than the file; otherwise a small file could claim one long string many times.
    std::uint64_t all = 0;
    for (const auto& [table, strings] : {std::pair{word(12), &originals_}, {word(16), &translations_}}) {
      if (table > bytes.size() || count > (bytes.size() - table) / 8)
        refuse("it claims " + std::to_string(count) + " messages, for which it is too short");
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t length = word(table + 8 * i), begin = word(table + 8 * i + 4), end = begin + length;
        if (end >= bytes.size() || bytes[end] != '\0')
          refuse("message " + std::to_string(i + 1) + " does not end within it");
        if ((all += length) > bytes.size()) refuse("it claims more text than it has bytes");
        strings->push_back(bytes.substr(begin, length));
      }
    }
  }

  const std::vector<std::string_view>& originals() const { return originals_; }
  const std::vector<std::string_view>& translations() const { return translations_; }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    tlm::refuse<std::invalid_argument>({name_, " is not a catalogue of gettext: ", why});
  }

  /// The word that begins at a byte.
  std::uint32_t word(std::uint64_t at) const {
    std::uint32_t value = 0;
    for (std::uint64_t i = 0; i < 4; ++i)
      value |= std::uint32_t(static_cast<unsigned char>(bytes_[at + (reversed_ ? 3 - i : i)])) << (8 * i);
    return value;
  }

  std::string_view bytes_;
  std::string name_;
  bool reversed_ = false;
  std::vector<std::string_view> originals_, translations_;
};

/// What a catalogue says of itself that its texts are encoded in, in capital letters: the charset in its header, which is the
/// translation of the empty text. Empty if it does not say.
inline std::string charset_of(const CatalogueStrings& strings) {
  constexpr std::string_view key = "charset=";
  for (std::size_t i = 0; i < strings.originals().size(); ++i)
    if (strings.originals()[i].empty()) {
      const std::string_view header = strings.translations()[i];
      const std::size_t at = header.find(key);
      if (at == header.npos) return {};
      std::string name{header.substr(at + key.size())};
      name.resize(std::min(name.find_first_of(std::string_view(" \t\r\n;\0", 6)), name.size()));
      for (char& c : name)
        if ('a' <= c && c <= 'z') c = char(c - 'a' + 'A');
      return name;
    }
  return {};
}

/// A text of ISO-8859-1, or of ISO-8859-15 where eight bytes are other characters, in UTF-8.
inline std::string utf8_of_latin(std::string_view text, bool is_15) {
  constexpr std::array<std::pair<unsigned char, char32_t>, 8> others{
      {{0xA4, U'€'}, {0xA6, U'Š'}, {0xA8, U'š'}, {0xB4, U'Ž'}, {0xB8, U'ž'}, {0xBC, U'Œ'}, {0xBD, U'œ'}, {0xBE, U'Ÿ'}}};
  std::string utf8;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const auto other = std::find_if(others.begin(), others.end(), [&](const auto& pair) { return pair.first == byte; });
    append_character(utf8, is_15 && other != others.end() ? other->second : byte);
  }
  return utf8;
}

/// The pairs of a catalogue, which has this name: each message and its translation, as they are, in UTF-8.
///
/// The context of a message is dropped. One that has a singular and a plural makes two pairs, the singular with the first form
/// of the translation and the plural with the last; a single form goes with the plural. (That is right for French; in some
/// languages the singular has another form than the first.) The header is no message.
///
/// Left out are messages without a translation, those not in the charset that the header names, and all of them if it names
/// another one than UTF-8, ASCII, ISO-8859-1 and ISO-8859-15. Throws std::invalid_argument for what is no catalogue.
inline SentencePairs pairs_of_catalogue(std::string_view bytes, const std::string& name) {
  const CatalogueStrings strings{bytes, name};
  SentencePairs read;
  const std::string encoded = charset_of(strings);
  const bool is_15 = encoded == "ISO-8859-15", is_latin = is_15 || encoded == "ISO-8859-1";
  if (!is_latin && encoded != "UTF-8" && encoded != "UTF8" && encoded != "ASCII" && encoded != "US-ASCII") {
    read.left_out.add(
        "all of " + name +
        (encoded.empty() ? ", which does not say its charset" : ", whose charset is " + in_quotes(encoded)));
    return read;
  }
  const auto split = [](std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t end; (end = text.find('\0')) != text.npos; text.remove_prefix(end + 1))
      parts.push_back(text.substr(0, end));
    parts.push_back(text);
    return parts;
  };
  for (std::size_t i = 0; i < strings.originals().size(); ++i) {
    std::string_view original = strings.originals()[i];
    if (original.empty()) continue;
    const std::string place = "message " + std::to_string(i + 1) + " of " + name;
    const auto add = [&](std::string_view source, std::string_view target) {
      if (source.empty() || target.empty())
        read.left_out.add(place + " has no translation");
      else if (is_latin)
        read.pairs.push_back({utf8_of_latin(source, is_15), utf8_of_latin(target, is_15), place});
      else if (!is_utf8(source) || !is_utf8(target))
        read.left_out.add(place + " is not in UTF-8");
      else
        read.pairs.push_back({std::string(source), std::string(target), place});
    };
    if (const std::size_t context = original.find('\4'); context != original.npos) original.remove_prefix(context + 1);
    const auto numbers = split(original), forms = split(strings.translations()[i]);
    if (numbers.size() > 2 || (numbers.size() == 1 && forms.size() > 1)) {
      read.left_out.add(place + " has " + std::to_string(numbers.size()) + " originals and " +
                        std::to_string(forms.size()) + " translations");
      continue;
    }
    if (forms.size() > 1 || numbers.size() == 1) add(numbers.front(), forms.front());
    if (numbers.size() == 2) add(numbers.back(), forms.back());
  }
  return read;
}

/// The pairs of all catalogues of a language that are installed, root/LANGUAGE/LC_MESSAGES/*.mo in the order of their names,
/// every pair once. Catalogues that cannot be read are left out, each counted as one.
///
/// Throws std::invalid_argument for what is no name of a language, and std::runtime_error, with what to install, if there are
/// no pairs.
inline SentencePairs installed_pairs(const std::string& language,
                                     const std::filesystem::path& root = "/usr/share/locale") {
  const auto in_a_name = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-' ||
           c == '@';
  };
  if (language.empty() || !std::all_of(language.begin(), language.end(), in_a_name))
    refuse<std::invalid_argument>({in_quotes(language), " is no language: one is named like fr, pt_BR or sr@latin"});
  const auto directory = root / language / "LC_MESSAGES";
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator file{directory, error}, end; !error && file != end; file.increment(error))
    if (file->path().extension() == ".mo") files.push_back(file->path());
  std::sort(files.begin(), files.end());
  SentencePairs read;
  for (const auto& file : files) try {
      SentencePairs more = pairs_of_catalogue(read_file(file), file.filename().string());
      std::move(more.pairs.begin(), more.pairs.end(), std::back_inserter(read.pairs));
      read.left_out.add(more.left_out);
    } catch (const std::exception& refused) {
      read.left_out.add(refused.what());
    }
  if (read.pairs.empty())
    refuse<std::runtime_error>({"no translations into ", language, " are in ", directory.string(), " (", files.size(),
                                " catalogues, ", read.left_out.sentence(),
                                "): install programs that bring some, on Debian apt-get install --reinstall coreutils "
                                "gettext iso-codes git; a slim image drops them as long as a path-exclude in "
                                "/etc/dpkg/dpkg.cfg.d says so"});
  read.pairs = distinct(std::move(read.pairs));
  return read;
}

}  // namespace tlm
