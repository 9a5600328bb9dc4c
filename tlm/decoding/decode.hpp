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

/// A text that a model says: what was said so far, and what the model remembers of it. A copy goes on by itself, from there:
/// nothing is computed again.
///
/// A model of sequences continues what is given, behind the token that starts. An encoder–decoder answers it, from the token
/// that starts: what is given is the source. The model reads every token once: its row is computed by extending what has
/// been computed before.
template <class T>
class Utterance {
 public:
  using Real = typename CodomainOf<T>::Real;
  static constexpr std::size_t vocab_size = CodomainOf<T>::cols;

  /// The model must outlive it. Throws std::length_error if what is given leaves no room; std::invalid_argument for an empty
  /// source.
  Utterance(const T& model, const std::vector<Token>& given, const Framing& framing)
      : score_{&scores(model)}, given_{given}, framing_{framing}, said_{framing.start} {
    if constexpr (CanDecode<T>::of_tokens) {
      if (given.size() + 1 > framing.max_len)
        throw std::length_error("an input of " + std::to_string(given.size()) +
                                " tokens is too long: with the token that starts there is room for " +
                                std::to_string(framing.max_len) + " tokens");
      said_.insert(said_.end(), given.begin(), given.end());
    } else if (given.empty()) {
      throw std::invalid_argument("the source is empty: the decoder has nothing to look at");
    }
    unread_ = said_;
  }

  /// Whether the token that ends was said, or the text has max_len tokens.
  bool ended() const { return ended_ || said_.size() >= framing_.max_len; }

  /// The scores of the tokens that may follow, in one row: reads what was said since the last call, and so is called once
  /// before each say().
  Matrix<n, vocab_size, Real> next() {
    const auto Y = read(Tokens{unread_});
    require_same_sequences("what the model reads", Sequences{unread_.size()}, "the scores that it returns",
                           Y.sequences());
    Matrix<n, vocab_size, Real> last{Sequences{1}};
    last.set_row(0, Y.row(Y.rows() - 1));
    return last;
  }

  /// Says a token.
  void say(Token token) {
    said_.push_back(token);
    ended_ = token == framing_.end;
    unread_ = {token};
  }

  /// What was said, without the token that starts; with what is given, if the model continues that.
  std::vector<Token> text() const { return {said_.begin() + 1, said_.end()}; }

 private:
  using Score = std::remove_cvref_t<decltype(scores(std::declval<const T&>()))>;

  auto read(Tokens unread) {
    if constexpr (CanDecode<T>::of_tokens)
      return said_.size() == unread.rows() ? behind_a_start([&] { return advance(*score_, state_, std::move(unread)); })
                                           : advance(*score_, state_, std::move(unread));
    else
      return advance(*score_, state_, {Tokens{given_}, std::move(unread)});
  }

  const Score* score_;
  std::vector<Token> given_;
  Framing framing_;
  std::vector<Token> said_, unread_;
  State<Score> state_{};
  bool ended_ = false;
};

/// What a model says (Utterance), until it says the token that ends or the text has max_len tokens; without the token that
/// starts. Each token is chosen by the scores in the last row. (Notebook, transformerLM_output.)
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
    Utterance<T> utterance{model, given, framing};
    while (!utterance.ended()) utterance.say(choose(utterance.next().data(), T::codomain::cols));
    return utterance.text();
  }
}

}  // namespace tlm
