#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <tlm/algebra/layer.hpp>

namespace tlm {

/// The condition under which a model can be decoded token by token. A failure shows the model.
template <class T>
struct CanExtend {
  static constexpr bool value = autoregressive<T>;
  static_assert(value, "decoding extends what was computed, which needs an autoregressive model");
};

/// The input, continued by the model until it says token 0 or the sequence with its leading 0 has max_len tokens.
/// (Notebook, transformerLM_output.)
///
/// The model first reads 0 and the input. Each further token is the one with the greatest output in the last row, the
/// lowest of them if there are several; its row is computed by extending what has been computed before. Throws
/// std::length_error for an input that, with its leading 0, is longer than max_len; whatever the model throws.
template <class T>
std::vector<Token> greedy(const T& model, const std::vector<Token>& input, std::size_t max_len) {
  if constexpr (CanExtend<T>::value) {
    if (input.size() + 1 > max_len)
      throw std::length_error("an input of " + std::to_string(input.size()) +
                              " tokens is too long: with the leading 0 there is room for " +
                              std::to_string(max_len) + " tokens");
    State<T> state;
    std::vector<Token> output = input;
    std::vector<Token> unread{0};
    unread.insert(unread.end(), input.begin(), input.end());
    while (output.size() + 1 < max_len) {
      const auto Y = extend(model, state, Tokens{unread});
      const auto* last = &Y(Y.rows() - 1, 0);
      const Token token = Token(std::max_element(last, last + T::codomain::cols) - last);
      output.push_back(token);
      if (token == 0) break;
      unread = {token};
    }
    return output;
  }
}

}  // namespace tlm
