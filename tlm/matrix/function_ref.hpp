// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <tlm/base/language.hpp>

namespace tlm {

template <class Signature>
class FunctionRef;

/// A function that lives elsewhere, and longer: FunctionRef<void(std::size_t)> is one type for all that are called like this. So
/// what takes it is compiled once, and not for each function that it is given. (As std::function_ref of C++26.)
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  /// Of this function, which it refers to.
  template <class Function>
  requires std::is_invocable_r_v<Result, const Function&, Arguments...> FunctionRef(const Function& function)
      : function_{&function}, call_{[](const void* of, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(of))(std::forward<Arguments>(arguments)...);
        }} {}

  /// What the function does.
  Result operator()(Arguments... arguments) const { return call_(function_, std::forward<Arguments>(arguments)...); }

 private:
  const void* function_;
  Result (*call_)(const void* function, Arguments... arguments);
};

}  // namespace tlm
