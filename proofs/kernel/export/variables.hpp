// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <proofs/kernel/export/term.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/weights.hpp>

/// What the definition of an operation is about: its weights, the memory that it reads, and its source.
namespace tlm::coq {

/// A variable and its type.
struct Variable {
  std::string name;  ///< its name
  std::string type;  ///< its type, in Coq
};

/// The weights of T in the order in which they are visited, each called by its path without the numbers of layers: of a
/// stack's layers it is a function of the layer's number.
template <class T>
std::vector<Variable> weights_of() {
  std::set<std::string> seen;
  std::vector<Variable> weights;
  visit_weights<T>(
      [&](const Name& name, auto& weight) {
        using Weight = std::remove_cvref_t<decltype(weight)>;
        std::string path, type;
        name.for_each_part([&](const PartName& part) {
          path += std::string(part.symbol) + "_";
          if (part.index > 0) type += "nat -> ";
        });
        path += name.letter;
        if (seen.insert(path).second)
          weights.push_back({path, type + type_of_weight(name, Weight::size / Weight::cols, Weight::cols)});
      },
      imaginary<T>);
  return weights;
}

namespace detail {
/// The type of the rows of a memory.
template <class Rows>
std::string rows_of_memory(Memory<Rows>*) {
  return RowType<Rows>::text();
}
/// Nothing else is a memory.
inline std::string rows_of_memory(void*) { return {}; }

/// The type of the rows of the source of a target.
template <class Source, class Target>
std::string rows_of_source(SourceAndTarget<Source, Target>*) {
  return RowType<Source>::text();
}
/// Nothing else has a source.
inline std::string rows_of_source(void*) { return {}; }
}  // namespace detail

/// The type of the rows of the memory that T, or else a part of it, reads; empty if there is none.
template <class T>
std::string memory_of() {
  std::string memory;
  if constexpr (requires { typename T::reads; })
    memory = detail::rows_of_memory(static_cast<typename T::reads*>(nullptr));
  if constexpr (requires(T & layer) { T::parts([](std::size_t, auto&) {}, layer); })
    T::parts(
        [&]<class Part>(std::size_t, Part&) {
          if (memory.empty()) memory = memory_of<Part>();
        },
        imaginary<T>);
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
