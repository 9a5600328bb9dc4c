#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/decoding/decode.hpp>

namespace tlm {

/// The condition under which a model is for one sequence, or for a source and a target. A failure shows the model and
/// what it should read.
template <class T, class Domain>
struct Reads {
  static constexpr bool value = std::is_same_v<typename T::domain, Domain>;
  static_assert(
      value, "greedy continues a sequence of tokens, translate answers a source: this model is for the other of them");
};

/// The input, continued by the model until it says token 0 or the sequence with its leading 0 has max_len tokens.
/// (Notebook, transformerLM_output.)
///
/// The model first reads 0 and the input. Each further token is the one with the greatest output in the last row, the
/// lowest of them if there are several; its row is computed by extending what has been computed before. Throws
/// std::length_error for an input that, with its leading 0, is longer than max_len; whatever the model throws.
template <class T>
std::vector<Token> greedy(const T& model, const std::vector<Token>& input, std::size_t max_len) {
  if constexpr (CanExtend<T>::value && Reads<T, Tokens>::value) {
    if (input.size() + 1 > max_len)
      throw std::length_error("an input of " + std::to_string(input.size()) +
                              " tokens is too long: with the leading 0 there is room for " + std::to_string(max_len) +
                              " tokens");
    std::vector<Token> said{0};
    said.insert(said.end(), input.begin(), input.end());
    continue_saying<State<T>>(
        said, max_len, 0, [&model](State<T>& state, Tokens x) { return extend(model, state, std::move(x)); },
        Greatest{});
    return {said.begin() + 1, said.end()};
  }
}

/// The target that an encoder–decoder gives to a source: from the token `start` until it says `end` or the target has
/// max_len tokens; without the start. Throws std::invalid_argument for an empty source; whatever the model or the choice
/// throws.
template <class T, class Choice = Greatest>
std::vector<Token> translate(const T& model, const std::vector<Token>& source, Token start, Token end,
                             std::size_t max_len, const Choice& choose = {}) {
  if constexpr (CanExtend<T>::value && Reads<T, SourceAndTarget<Tokens, Tokens>>::value) {
    if (source.empty()) throw std::invalid_argument("the source is empty: the decoder has nothing to look at");
    std::vector<Token> said{start};
    continue_saying<State<T>>(
        said, max_len, end,
        [&](State<T>& state, Tokens y) {
          return extend(model, state, {Tokens{source}, std::move(y)});
        },
        choose);
    return {said.begin() + 1, said.end()};
  }
}

}  // namespace tlm
