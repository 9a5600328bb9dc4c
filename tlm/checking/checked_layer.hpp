// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <tlm/algebra/rules.hpp>
#include <tlm/checking/dual.hpp>
#include <tlm/checking/pullbacks.hpp>
#include <tlm/checking/verdict.hpp>

namespace tlm::checking {

/// A layer without its type, over all arithmetics, and what its type claims of it.
struct CheckedLayer : Subject {
  std::unique_ptr<const Operation<Dual<double>>> in_duals{};
  std::unique_ptr<const Operation<Dual<PrimeField>>> in_duals_of_field{};
  bool leaf, rowwise, autoregressive, constant, called_alike, takes_temporaries, form_is_known;
  std::size_t numbers_held;  ///< How many numbers a new one holds.
};

/// A number of the prime field that counts how many of them exist.
struct Held : PrimeField {
  using PrimeField::PrimeField;
  Held() = default;
  Held(PrimeField number) : PrimeField{number} {}

  struct Counted {
    Counted() { ++count; }
    Counted(const Counted&) : Counted{} {}
    Counted& operator=(const Counted&) = default;
    ~Counted() { --count; }

    inline static std::size_t count = 0;
  } counted{};
};
/// How many numbers a new T holds.
template <class T>
std::size_t numbers_held() {
  const std::size_t before = Held::Counted::count;
  [[maybe_unused]] const T layer;
  return Held::Counted::count - before;
}

/// What is checked of a layer.
template <template <class> class Layer>
CheckedLayer checked_layer(std::string_view name) {
  using T = Layer<double>;
  bool temporaries = false;
  if constexpr (rules::Leaf<T>) temporaries = TakesTemporaries<T>;
  return {subject<Layer, all_faces>(name),
          operation<Layer<Dual<double>>>(name),
          operation<Layer<Dual<PrimeField>>>(name),
          rules::Leaf<T>,
          rowwise<T>,
          autoregressive<T>,
          constant<T>,
          rowwise<T> == rowwise<Layer<float>> && autoregressive<T> == autoregressive<Layer<float>> &&
              constant<T> == constant<Layer<float>>,
          temporaries,
          form_is_known<T>,
          numbers_held<Layer<Held>>()};
}

}  // namespace tlm::checking
