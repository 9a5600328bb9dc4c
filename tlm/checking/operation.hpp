// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/checking/by_form.hpp>
#include <tlm/checking/stacked.hpp>

/// Layers without their types. So a check is compiled once for each arithmetic, and not once for each layer.
namespace tlm::checking {

template <class Real>
struct Operation;

/// The value of a layer at X, with its pullback.
template <class Real>
struct Differentiated {
  Input<Real> X{};
  Stacked<Real> value{};

  virtual ~Differentiated() = default;
  /// X̄, given Ȳ. Adds to the gradient.
  virtual Input<Real> pullback(const Stacked<Real>& Y_bar, Operation<Real>& gradient) const = 0;
};

/// A layer that has read some rows, with what it remembers of them. Called with the next rows of X, it returns the next
/// rows of the value. A copy remembers on its own.
template <class Real>
using Continued = std::function<Stacked<Real>(const Input<Real>& X)>;

/// A layer with its weights, over some arithmetic.
template <class Real>
struct Operation {
  std::string name;
  Shape source, target, codomain;

  virtual ~Operation() = default;
  /// Another one, all of whose weights are 0.
  virtual std::unique_ptr<Operation> another() const = 0;
  virtual std::vector<Parameter<Real>> weights() = 0;
  virtual Stacked<Real> operator()(const Input<Real>& X) const = 0;
  /// The value and the pullback at X, which refer to this operation; null if this face is not compiled.
  virtual std::unique_ptr<Differentiated<Real>> differentiated(const Input<Real>& X) const = 0;
  /// The layer before it has read any row, or nothing if this face is not compiled. It refers to this operation.
  virtual Continued<Real> at_the_beginning() const = 0;
  /// The value of its form at X, from its parts down to the leaves. It has no columns if a form is unknown.
  virtual Stacked<Real> by_form(const Input<Real>& X) const = 0;
};

/// The numbers of all weights of T, and of X unless it consists of tokens. They are the coordinates of a point at which
/// T is differentiated, or of its gradient.
template <class Real>
std::vector<Parameter<Real>> coordinates(Operation<Real>& T, Input<Real>& X) {
  auto tables = T.weights();
  for (Stacked<Real>* rows : {&X.source, &X.target})
    if (!rows->numbers.empty())
      tables.push_back({"X", Role::matrix, rows->sequences.rows(), rows->cols, rows->numbers.data()});
  return tables;
}

/// Makes X one sequence of 0. Returns what it was, with its memory, which is 0, too.
template <class Domain>
auto spoil(Domain& X) {
  if constexpr (Pair<Domain>) {
    return std::pair{spoil(X.x), spoil(X.y)};
  } else {
    std::fill_n(X.data(), X.rows() * Domain::cols, typename Domain::Real(0));
    return std::exchange(X, Domain{Sequences{X.rows()}});
  }
}

/// The faces of a layer that are checked. The others are not compiled.
enum Faces { value_face = 0, pullback_face = 1, extension_face = 2, form_face = 4, all_faces = 7 };

/// Layer T under a name.
template <class T, int faces = value_face>
struct OperationOf : Operation<typename T::codomain::Real> {
  using Real = typename T::codomain::Real;
  using Domain = typename T::domain;

  T layer{};

  explicit OperationOf(std::string_view called) {
    this->name = called;
    if constexpr (Pair<Domain>) this->source = shape_of<decltype(Domain::x)>();
    this->target = shape_of<Domain>();
    this->codomain = shape_of<typename T::codomain>();
  }

  std::unique_ptr<Operation<Real>> another() const override {
    return std::unique_ptr<Operation<Real>>(new OperationOf{this->name});
  }
  std::vector<Parameter<Real>> weights() override {
    const auto all = parameters(layer);
    return {all.begin(), all.end()};
  }
  Stacked<Real> operator()(const Input<Real>& X) const override { return Stacked<Real>{layer(as<Domain>(X))}; }

  /// T's value and pullback at X. Then X and Y are spoilt: a pullback that refers to one of them sees other numbers and
  /// other sequences.
  struct At : Differentiated<Real> {
    Domain x;
    decltype(std::declval<const T&>().value_and_pullback(std::declval<const Domain&>())) result;
    decltype(spoil(x)) of_X{};
    decltype(spoil(result.value)) of_Y{};

    At(const T& of, const Input<Real>& at) : x{as<Domain>(at)}, result{of.value_and_pullback(std::as_const(x))} {
      this->X = at;
      this->value = Stacked<Real>{typename T::codomain(result.value)};
      of_X = spoil(x);
      of_Y = spoil(result.value);
    }
    Input<Real> pullback(const Stacked<Real>& Y_bar, Operation<Real>& gradient) const override {
      return input<Real>(
          result.pullback(Y_bar.template as<typename T::codomain>(), static_cast<OperationOf&>(gradient).layer));
    }
  };
  std::unique_ptr<Differentiated<Real>> differentiated([[maybe_unused]] const Input<Real>& X) const override {
    if constexpr ((faces & pullback_face) != 0) return std::unique_ptr<Differentiated<Real>>(new At{layer, X});
    return {};
  }

  Continued<Real> at_the_beginning() const override {
    if constexpr ((faces & extension_face) != 0 && rules::Extensible<T>)
      return [this, state = State<T>{}](const Input<Real>& X) mutable {
        return Stacked<Real>{advance(layer, state, as<Domain>(X))};
      };
    return {};
  }

  Stacked<Real> by_form([[maybe_unused]] const Input<Real>& X) const override {
    if constexpr ((faces & form_face) != 0 && FormIsKnown<T>) return value_by_form(layer, X);
    return {};
  }
};

/// An OperationOf, without its type.
template <class T, int faces = value_face>
std::unique_ptr<Operation<typename T::codomain::Real>> operation(std::string_view name) {
  return std::unique_ptr<Operation<typename T::codomain::Real>>(new OperationOf<T, faces>{name});
}

}  // namespace tlm::checking
