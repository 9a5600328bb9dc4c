// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <proofs/kernel/export/term.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/algebra/parts.hpp>

/// What the definition of an operation is about: its weights, the memory that it reads, and its source.
namespace tlm::coq {

/// The text, which must be one word in the language of Coq: it is written there, and what is written can say anything.
inline std::string word(std::string_view text) {
  const auto fits = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') ||
           ('0' <= c && c <= '9') || c == '_' || c == '\'';
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), fits) || ('0' <= text[0] && text[0] <= '9'))
    throw std::invalid_argument("'" + std::string(text) +
                                "' is no name in Coq: it must be of letters, digits, _ and '");
  return std::string(text);
}

/// One piece of a weight's key, for a part of this symbol; of all layers of a stack it is the same.
inline std::string piece_of_key(std::string_view symbol, bool in_a_stack) {
  return word(symbol) + (in_a_stack ? "#/" : "/");
}

/// What tells a weight from all others: its path without the numbers of layers.
inline std::string key_of(const tlm::detail::PlacedName& name) {
  std::string key;
  for (const tlm::detail::PartName* part = name.within; part; part = part->outer)
    key = piece_of_key(part->symbol, part->index > 0) + key;
  return key + word(name.letter);
}

/// The type of a weight.
template <class Weight>
std::string type_of_weight(const Name& name, const Weight&) {
  return (name.role == Role::matrix ? "Matrix num " + std::to_string(Weight::fixed_rows()) : "Row num") + " " +
         std::to_string(Weight::cols);
}

/// This name, or the first one with primes that is not taken; it is taken then.
inline std::string unused(std::string name, std::set<std::string>& taken) {
  name = word(name);
  while (!taken.insert(name).second) name += "'";
  return name;
}

/// The weights of T in the order in which they are visited, each with its key, the name of its variable, and its type. A weight
/// of a stack's layers is a function of the layer's number.
struct Weights {
  /// A weight.
  struct Variable {
    std::string key;   ///< "DB#/FF/A"
    std::string name;  ///< "DB_FF_A"; with a prime, if that is another's
    std::string type;  ///< "nat -> Matrix num 4 8"
  };
  std::vector<Variable> variables;  ///< all of them

  /// Those of T, by names that are not yet taken.
  template <class T>
  static Weights of(std::set<std::string>& taken) {
    static_assert(tlm::detail::PathsAreUnique<T>::value);
    Weights weights;
    std::set<std::string> seen;
    tlm::detail::visit_weights(
        [&](const tlm::detail::PlacedName& name, auto& weight) {
          const std::string key = key_of(name);
          if (!seen.insert(key).second) return;
          std::string path, type = type_of_weight(name, weight);
          for (const char c : key) {
            if (c != '#') path += c == '/' ? '_' : c;
            if (c == '#') type = "nat -> " + type;
          }
          weights.variables.push_back({key, unused(path, taken), type});
        },
        tlm::detail::imaginary<T>);
    return weights;
  }

  /// The variable with this key.
  const std::string& name(const std::string& key) const {
    for (const Variable& variable : variables)
      if (variable.key == key) return variable.name;
    throw std::logic_error("a form names the weight " + key + ", which is not visited");
  }
};

namespace detail {
/// The type of the rows of a memory; of nothing else.
template <class Rows>
std::string rows_of_memory(Memory<Rows>*) {
  return RowType<Rows>::text();
}
inline std::string rows_of_memory(void*) { return {}; }

/// The type of the rows of the source of a target; of nothing else.
template <class Source, class Target>
std::string rows_of_source(SourceAndTarget<Source, Target>*) {
  return RowType<Source>::text();
}
inline std::string rows_of_source(void*) { return {}; }
}  // namespace detail

/// The type of the rows of the memory that T, or else a part of it, reads; empty if there is none.
template <class T>
std::string memory_of() {
  std::string memory;
  tlm::detail::for_each_part(
      [&]<class Part>(Part&) {
        if constexpr (requires { typename Part::reads; })
          if (memory.empty()) memory = detail::rows_of_memory(static_cast<typename Part::reads*>(nullptr));
      },
      tlm::detail::imaginary<T>);
  return memory;
}

/// The type of the rows of the source that T's target belongs to; empty if there is none.
template <class T>
std::string source_of() {
  if constexpr (requires { typename T::domain; })
    return detail::rows_of_source(static_cast<typename T::domain*>(nullptr));
  else
    return {};
}

}  // namespace tlm::coq
