// SPDX-License-Identifier: MIT
// Prints the leaves that the list of all layers reaches, in proofs/all_layers.hpp: the type of each, and the masks of kernels.

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <typeinfo>

#include "../../proofs/all_layers.hpp"

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

}  // namespace

int main() {
  std::set<std::string> names;
  tlm::proofs::for_each_layer([&]<template <class> class Layer>(tlm::proofs::Listed<Layer>) {
    Layer<double> layer;
    tlm::detail::for_each_part(
        [&]<class Part>(Part& part) {
          if constexpr (tlm::rules::Leaf<Part>) names.insert(name_of<Part>());
          if constexpr (requires { mask_of(part); }) names.insert(name_of<decltype(mask_of(part))>());
        },
        layer);
  });
  for (const std::string& name : names) std::cout << name << '\n';
}
