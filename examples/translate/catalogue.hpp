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

#include <tlm/base/refuse.hpp>
#include <tlm/text/utf8.hpp>
#include "pairs.hpp"

/// Catalogues of gettext (.mo), which hold the translations of the messages of programs. Every Linux has such pairs.
namespace tlm {

/// The strings of a catalogue as they are in the file. (GNU gettext manual, "The Format of GNU MO Files".)
///
/// The file begins with words of four bytes, in either byte order: the magic number 0x950412de, the revision, the
/// number of messages, and the places of the tables of originals and of translations. For each message a table has the
/// length and the place of a string. A byte 0 follows each string. All lengths and places are compared with the size of
/// the file before they are used.
///
/// From minor revision 1 on five more words follow. There may be further messages with pieces that depend on the
/// system, such as how it prints integers of 64 bits. These are counted and not read.
class CatalogueStrings {
 public:
  /// Throws std::invalid_argument if it is not a catalogue. The message has the given name.
  CatalogueStrings(std::string_view bytes, const std::string& name) : bytes_{bytes}, name_{name} {
    constexpr std::size_t header = 28;
    constexpr std::uint32_t magic = 0x950412de, reversed_magic = 0xde120495;
    const std::uint32_t found = bytes.size() < header ? 0 : word(0);
    if (found != magic && found != reversed_magic) refuse("it does not begin like one");
    reversed_ = found == reversed_magic;
    if (const std::uint32_t major = word(4) >> 16; major > 1)
      refuse("its format is of revision " + std::to_string(major) + ", and only 0 and 1 are known");
    const std::uint64_t count = word(8);
    for (const auto& [table, strings] : {std::pair{word(12), &originals_}, {word(16), &translations_}}) {
      require_table(table, count, 8, "messages");
      for (std::uint64_t i = 0; i < count; ++i) read_string(table + 8 * i, *strings);
    }
    if ((word(4) & 0xFFFF) == 0) return;
    require_table(0, 12, 4, "words");
    in_pieces_ = word(36);
    require_table(word(40), in_pieces_, 4, "messages");
  }

  const std::vector<std::string>& originals() const { return originals_; }
  const std::vector<std::string>& translations() const { return translations_; }
  /// How many messages depend on the system.
  std::size_t in_pieces() const { return in_pieces_; }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    tlm::refuse<std::invalid_argument>({name_, " is not a catalogue of gettext: ", why});
  }

  /// Throws unless the file has this many entries of this many bytes from a place on.
  void require_table(std::uint64_t table, std::uint64_t count, std::uint64_t bytes, const char* of_what) const {
    if (table > bytes_.size() || count > (bytes_.size() - table) / bytes)
      refuse("it claims " + std::to_string(count) + " " + of_what + ", for which it is too short");
  }

  /// The next message of a list, whose strings have a length and a place at a byte of a table. Together they may not be
  /// longer than the file. Otherwise a small file could name one long string many times.
  void read_string(std::uint64_t entry, std::vector<std::string>& strings) {
    const std::uint64_t length = word(entry), begin = word(entry + 4), end = begin + length;
    if (end >= bytes_.size() || bytes_[end] != '\0')
      refuse("message " + std::to_string(strings.size() + 1) + " does not end within it");
    if ((all_ += length) > bytes_.size()) refuse("it claims more text than it has bytes");
    strings.emplace_back(bytes_.substr(begin, length));
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
  std::uint64_t all_ = 0;
  std::size_t in_pieces_ = 0;
  std::vector<std::string> originals_, translations_;
};

/// The charset of a catalogue's texts, in capital letters. It is named in the header, which is the translation of the
/// empty text. Empty if the header names none.
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

/// A text in ISO-8859-1, or in ISO-8859-15, where eight bytes are other characters, as UTF-8.
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

/// The pairs of a catalogue with this name: each message and its translation, unchanged, in UTF-8.
///
/// The context of a message is dropped. A message with a singular and a plural makes two pairs: the singular with the
/// first form of the translation, the plural with the last. If there is only one form, it goes with the plural. (That
/// is right for French. In some languages the singular is not the first form.) The header is not a message.
///
/// Left out are messages without a translation, those that depend on the system, and those that are not in the charset
/// of the header. All are left out if that charset is not UTF-8, ASCII, ISO-8859-1 or ISO-8859-15. Throws
/// std::invalid_argument if the file is not a catalogue.
inline SentencePairs pairs_of_catalogue(std::string_view bytes, const std::string& name) {
  const CatalogueStrings strings{bytes, name};
  SentencePairs read;
  const std::string encoded = charset_of(strings);
  const bool is_15 = encoded == "ISO-8859-15", is_latin = is_15 || encoded == "ISO-8859-1";
  if (!is_latin && encoded != "UTF-8" && encoded != "UTF8" && encoded != "ASCII" && encoded != "US-ASCII") {
    read.left_out.push_back(
        "all of " + name +
        (encoded.empty() ? ", which does not say its charset" : ", whose charset is " + in_quotes(encoded)));
    return read;
  }
  for (std::size_t i = 0; i < strings.originals().size(); ++i) {
    std::string_view original = strings.originals()[i];
    if (original.empty()) continue;
    const std::string place = "message " + std::to_string(i + 1) + " of " + name;
    const auto add = [&](std::string_view source, std::string_view target) {
      if (source.empty() || target.empty())
        read.left_out.push_back(place + " has no translation");
      else if (is_latin)
        read.pairs.push_back({utf8_of_latin(source, is_15), utf8_of_latin(target, is_15), place});
      else if (!is_utf8(source) || !is_utf8(target))
        read.left_out.push_back(place + " is not in UTF-8");
      else
        read.pairs.push_back({std::string(source), std::string(target), place});
    };
    if (const std::size_t context = original.find('\4'); context != original.npos) original.remove_prefix(context + 1);
    const auto numbers = parts_between(original, '\0'), forms = parts_between(strings.translations()[i], '\0');
    if (numbers.size() > 2 || (numbers.size() == 1 && forms.size() > 1)) {
      read.left_out.push_back(place + " has " + std::to_string(numbers.size()) + " originals and " +
                              std::to_string(forms.size()) + " translations");
      continue;
    }
    if (forms.size() > 1 || numbers.size() == 1) add(numbers.front(), forms.front());
    if (numbers.size() == 2) add(numbers.back(), forms.back());
  }
  for (std::size_t i = 0; i < strings.in_pieces(); ++i)
    read.left_out.push_back("message " + std::to_string(strings.originals().size() + i + 1) + " of " + name +
                            " depends on the system");
  return read;
}

/// The pairs of all catalogues of a language that are installed, root/LANGUAGE/LC_MESSAGES/*.mo in the order of their names,
/// every pair once. Catalogues that cannot be read are left out, each counted as one.
///
/// Throws std::invalid_argument if the name is not that of a language. If there are no pairs, throws
/// std::runtime_error, which tells what to install.
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
  if (error && error != std::errc::no_such_file_or_directory)
    read.left_out.push_back(directory.string() + " cannot be read: " + error.message());
  for (const auto& file : files) try {
      SentencePairs more = pairs_of_catalogue(program::read_file(file), file.filename().string());
      std::move(more.pairs.begin(), more.pairs.end(), std::back_inserter(read.pairs));
      std::move(more.left_out.begin(), more.left_out.end(), std::back_inserter(read.left_out));
    } catch (const std::exception& refused) {
      read.left_out.push_back(refused.what());
    }
  if (read.pairs.empty())
    refuse<std::runtime_error>({"no translations into ", language, " are in ", directory.string(), " (", files.size(),
                                " catalogues, ", sentence_of(read.left_out),
                                "): install programs that bring some, on Debian apt-get install --reinstall coreutils "
                                "gettext iso-codes git; a slim image drops them as long as a path-exclude in "
                                "/etc/dpkg/dpkg.cfg.d says so"});
  read.pairs = distinct(std::move(read.pairs));
  return read;
}

}  // namespace tlm
