// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <proofs/kernel/export/variables.hpp>
#include <tlm/algebra/names.hpp>
#include <tlm/derivation/notation.hpp>

namespace tlm::coq {

/// What tells T from all other types.
template <class T>
std::string type_name() {
  return typeid(T).name();
}

/// Where an operation stands in a model.
struct Place {
  /// A part whose weight is read in several places.
  struct Shared {
    std::string path;    ///< that of the part
    std::size_t layers;  ///< how many stacks it is in
  };

  std::string path;                           ///< what the keys of its weights begin with: "DB#/FF/"
  std::string within;                         ///< the definition that it is a part of, told from all others
  std::vector<std::string> layers;            ///< of the stacks that it is in
  std::vector<std::string> heads;             ///< of the heads that it is in
  std::size_t n_heads = 1;                    ///< how many heads there are where it is
  bool in_a_stack = false;                    ///< it is a layer of a stack, and not a part of one
  std::map<std::string, Shared> shared = {};  ///< what tied weights' readers read, by the item's type

  /// What tells the operation from those of the same name: the layers and heads that it is in.
  std::vector<std::string> arguments() const {
    std::vector<std::string> all = layers;
    all.insert(all.end(), heads.begin(), heads.end());
    return all;
  }
  /// The parameters of its definition, " (l i : nat)"; nothing, if there are none.
  std::string parameters() const {
    const std::string names = applied("", arguments()).text;
    return names.empty() ? "" : " (" + names.substr(1) + " : nat)";
  }
  /// What tells the definition of this type here from all others: a type is defined once within another.
  std::string key(const std::string& type) const {
    return within + "/" + std::to_string(layers.size()) + "/" + std::to_string(heads.size()) + "/" + type;
  }

  /// That of a stack's layer l, from 1.
  template <class F>
  Place layer(std::size_t l) const {
    Place place = *this;
    place.in_a_stack = HasSymbol<F>;
    if constexpr (!HasSymbol<F>) place.path += piece_of_key(tlm::detail::symbol_of<F>(), true);
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
  /// That of what reads Item's weight.
  template <class Item>
  Place tied() const {
    Place place = *this;
    place.shared[type_name<Item>()] = {path, layers.size()};
    return place;
  }
  /// Within the definition of T, whose parameters stand for what it is applied to.
  template <class T>
  Place inside() const {
    Place place = inside_definition(key(type_name<T>()));
    // One head of several is no object: its weights are those of the layer that it is a part of.
    if constexpr (requires { typename T::domain; })
      if (!within.empty()) place.path += piece_of_key(tlm::detail::symbol_of<T>(), in_a_stack);
    return place;
  }

 private:
  Place inside_definition(std::string definition) const {
    Place place = *this;
    place.in_a_stack = false;
    place.within = std::move(definition);
    for (std::size_t k = 0; k < layers.size(); ++k) place.layers[k] = parameter("l", k);
    for (std::size_t k = 0; k < heads.size(); ++k) place.heads[k] = parameter("i", k);
    return place;
  }

  static std::string parameter(const std::string& letter, std::size_t k) {
    return k == 0 ? letter : letter + std::to_string(k + 1);
  }
};

}  // namespace tlm::coq
