// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/environment.hpp>
#include <tlm/decoding/choice.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/matrix/vocabulary.hpp>

/// Decoding: what a model says, token by token.
namespace tlm {

/// Which token starts a text and which ends it, and how many tokens there may be, with the one that starts.
struct Framing {
  Token start, end;
  std::size_t max_len;
};

/// The condition under which a model can be decoded token by token. A failure shows the model.
template <class T>
struct CanDecode {
  static constexpr bool of_tokens = std::is_same_v<DomainOf<T>, Tokens>;
  static constexpr bool of_source = std::is_same_v<DomainOf<T>, SourceAndTarget<Tokens, Tokens>>;
  static constexpr bool is_layer = complete<T>, looks_back = !is_layer || autoregressive<T>;
  static constexpr bool fits = !is_layer || !looks_back || of_tokens || of_source;
  static constexpr bool value = is_layer && looks_back && fits;
  static_assert(looks_back, "decoding extends what was computed, which needs a model that is autoregressive by type");
  static_assert(fits, "what is decoded reads tokens: sequences of them, or a source and a target");
};

/// What a model says, until it says the token that ends or the text has max_len tokens; without the token that starts.
///
/// A model of sequences continues what is given, behind the token that starts: the result begins with what is given.
/// (Notebook, transformerLM_output.) An encoder–decoder answers it, from the token that starts: what is given is the
/// source. Each token is chosen by the scores in the last row, and the model reads every token once: its row is computed by
/// extending what has been computed before.
///
/// Throws std::length_error if what is given leaves no room; std::invalid_argument for an empty source; whatever the model
/// or the choice throws.
template <class T, class Choice = Greedy>
std::vector<Token> decode(const T& model, const std::vector<Token>& given, const Framing& framing,
                          const Choice& choose = {}) {
  static_assert(IsLayer<T>::value);
  if constexpr (!CanDecode<T>::value) {
    return {};
  } else {
    const auto& score = scores(model);
    State<std::remove_cvref_t<decltype(score)>> state;
    std::vector<Token> said{framing.start};
    if constexpr (CanDecode<T>::of_tokens) {
      if (given.size() + 1 > framing.max_len)
        throw std::length_error("an input of " + std::to_string(given.size()) +
                                " tokens is too long: with the token that starts there is room for " +
                                std::to_string(framing.max_len) + " tokens");
      said.insert(said.end(), given.begin(), given.end());
    } else if (given.empty()) {
      throw std::invalid_argument("the source is empty: the decoder has nothing to look at");
    }
    const auto read = [&](Tokens unread) {
      if constexpr (CanDecode<T>::of_tokens)
        return said.size() == unread.rows() ? behind_a_start([&] { return advance(score, state, std::move(unread)); })
                                            : advance(score, state, std::move(unread));
      else
        return advance(score, state, {Tokens{given}, std::move(unread)});
    };
    std::vector<Token> unread = said;
    while (said.size() < framing.max_len) {
      const auto Y = read(Tokens{unread});
      require_same_sequences("what the model reads", Sequences{unread.size()}, "the scores that it returns",
                             Y.sequences());
      const Token token = choose(&Y(Y.rows() - 1, 0), T::codomain::cols);
      said.push_back(token);
      if (token == framing.end) break;
      unread = {token};
    }
    return {said.begin() + 1, said.end()};
  }
}

}  // namespace tlm
