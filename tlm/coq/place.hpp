// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <tlm/algebra/weights.hpp>
#include <tlm/derivation/notation.hpp>

namespace tlm::coq {

/// Where an operation stands in a model.
struct Place {
  std::string path;                 ///< what the paths of its weights begin with: "DB_FF_"
  std::string within;               ///< the definition that it is a part of, told from all others
  std::vector<std::string> layers;  ///< of the stacks that it is in
  std::vector<std::string> heads;   ///< of the heads that it is in
  std::size_t n_heads = 1;          ///< how many heads there are where it is
  /// The path of what a tied weight's readers read, by the entry's id.
  std::map<const void*, std::string> entries = {};

  /// What tells the operation from those of the same name: the layers and heads that it is in.
  std::vector<std::string> arguments() const {
    std::vector<std::string> all = layers;
    all.insert(all.end(), heads.begin(), heads.end());
    return all;
  }

  /// The parameters of its definition, " (l i : nat)"; nothing, if there are none.
  std::string parameters() const {
    std::string names;
    for (const std::string& argument : arguments()) names += " " + argument;
    return names.empty() ? "" : " (" + names.substr(1) + " : nat)";
  }
  /// What tells the definition of this symbol here from all others.
  std::string key(const std::string& symbol) const { return within + "/" + symbol; }

  /// That of a stack's layer l, from 1.
  template <class F>
  Place layer(std::size_t l) const {
    Place place = *this;
    if constexpr (!HasSymbol<F>) place.path += "T_";
    place.layers.push_back(std::to_string(l));
    return place;
  }
  /// That of head i, from 1, of so many.
  Place head(std::size_t i, std::size_t count) const {
    Place place = *this;
    place.heads.push_back(std::to_string(i));
    place.n_heads = count;
    return place;
  }
  /// That of what reads Entry's weight.
  template <class Entry>
  Place tied() const {
    Place place = *this;
    place.entries[&id<Entry>] = path;
    return place;
  }
  /// The path of the weight of Entry, which is read here; null if there is none.
  template <class Entry>
  const std::string* entry() const {
    const auto found = entries.find(&id<Entry>);
    return found == entries.end() ? nullptr : &found->second;
  }
  /// Within the definition of T, whose parameters stand for what it is applied to; key tells it from all others.
  template <class T>
  Place inside(const std::string& key) const {
    Place place = *this;
    // One head of several is no object: its weights are those of the layer that it is a part of.
    if constexpr (requires { typename T::domain; })
      if (!within.empty()) place.path += std::string(symbol_of<T>()) + "_";
    place.within = key;
    for (std::size_t k = 0; k < layers.size(); ++k) place.layers[k] = parameter("l", k);
    for (std::size_t k = 0; k < heads.size(); ++k) place.heads[k] = parameter("i", k);
    return place;
  }

 private:
  template <class T>
  static constexpr char id = 0;

  static std::string parameter(const std::string& letter, std::size_t k) {
    return k == 0 ? letter : letter + std::to_string(k + 1);
  }
};

}  // namespace tlm::coq
