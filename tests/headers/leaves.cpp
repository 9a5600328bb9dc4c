// SPDX-License-Identifier: MIT
// Prints the leaves that the list of all layers reaches, in proofs/layers.hpp: the type of each, and the masks of kernels.
//
// usage: leaves [NAME], where the layers of the list are left out that have a leaf of that name in them

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <typeinfo>

#include "../../proofs/layers.hpp"

namespace {

/// As in tlm::ReLU<6ul, double>.
template <class T>
std::string name_of() {
  char* const demangled = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr);
  std::string name = demangled;
  std::free(demangled);
  return name;
}

/// The mask of an attention.
template <std::size_t n_heads, class Mask, class Q, class K, class V, class Bias, std::size_t block>
Mask mask_of(const tlm::Attention<n_heads, Mask, Q, K, V, Bias, block>&);

/// Whether one of them is of the template of that name.
bool has(const std::set<std::string>& names, const std::string& name) {
  for (const std::string& type : names)
    if (type == "tlm::" + name || type.starts_with("tlm::" + name + "<")) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> all;
  tlm::proofs::for_each_layer([&]<template <class> class Layer>(tlm::proofs::Listed<Layer>) {
    std::set<std::string> names;
    Layer<double> layer;
    tlm::detail::for_each_part(
        [&]<class Part>(Part& part) {
          if constexpr (tlm::rules::Leaf<Part>) names.insert(name_of<Part>());
          if constexpr (requires { mask_of(part); }) names.insert(name_of<decltype(mask_of(part))>());
        },
        layer);
    if (argc < 2 || !has(names, argv[1])) all.merge(names);
  });
  for (const std::string& name : all) std::cout << name << '\n';
}
