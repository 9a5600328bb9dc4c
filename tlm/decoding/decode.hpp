// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/decoding/choice.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/matrix/refuse.hpp>
#include <tlm/matrix/vocabulary.hpp>

/// Decoding: what a model says, token by token.
namespace tlm {

/// Which token starts a text and which ends it, and how many tokens there may be, with the one that starts.
struct Framing {
  Token start;
  Token end;  ///< One that is not in the vocabulary, as −1, ends none: the text then has max_len tokens.
  std::size_t max_len;
};

/// The condition under which a model can be decoded token by token. A failure shows the model.
template <class T>
struct CanDecode {
  static constexpr bool of_tokens = std::is_same_v<DomainOf<T>, Tokens>;
  static constexpr bool of_source = std::is_same_v<DomainOf<T>, SourceAndTarget<Tokens, Tokens>>;
  static constexpr bool is_layer = Layer<T>, looks_back = !is_layer || autoregressive<T>;
  static constexpr bool fits = !is_layer || !looks_back || of_tokens || of_source;
  static constexpr bool value = is_layer && looks_back && fits;
  static_assert(looks_back, "decoding extends what was computed, which needs a model that is autoregressive by type");
  static_assert(fits, "what is decoded reads tokens: sequences of them, or a source and a target");
};

/// Texts that a model says, token by token, all of them at once: what was said so far, and what the model remembers of it. A
/// copy goes on by itself, from there: nothing is computed again.
///
/// A model of sequences continues what is given, behind the token that starts. An encoder–decoder answers it, from the token
/// that starts: what is given is the source. The model reads every token once: its row is computed by extending what has
/// been computed before. The texts are a stack of sequences, and one that has ended is a sequence that grows no more.
template <class T>
class Utterances {
 public:
  using Real = typename CodomainOf<T>::Real;
  static constexpr std::size_t vocab_size = CodomainOf<T>::cols;

  /// One for each that is given. The model must outlive them. Throws std::length_error if what is given leaves no room,
  /// and for a max_len of 0 or one that is too great for a model with a config; std::invalid_argument for an empty source.
  Utterances(const T& model, const std::vector<std::vector<Token>>& given, const Framing& framing)
      : score_{&scores(model)}, framing_{framing}, texts_(given.size()) {
    if constexpr (!CanDecode<T>::of_tokens) sources_ = Tokens{given};
    if (framing.max_len == 0) refuse<std::length_error>({"max_len is 0: a text has at least the token that starts"});
    if constexpr (requires { std::size_t{T::config.max_len}; })
      if (framing.max_len > T::config.max_len + 1)
        refuse<std::length_error>({"max_len is ", framing.max_len, ", but a model that reads ", T::config.max_len,
                                   " tokens says no more than ", T::config.max_len + 1, ", with the one that starts"});
    for (std::size_t k = 0; k < texts_.size(); ++k) {
      Text& text = texts_[k];
      text.said.push_back(framing.start);
      if constexpr (CanDecode<T>::of_tokens) {
        if (given[k].size() + 1 > framing.max_len)
          refuse<std::length_error>({"an input of ", given[k].size(),
                                     " tokens is too long: with the token that starts these are ", given[k].size() + 1,
                                     ", and there is room for ", framing.max_len});
        for (const Token token : given[k]) text.said.push_back(token);
      } else if (given[k].empty()) {
        refuse<std::invalid_argument>({"the source is empty: the decoder has nothing to look at"});
      }
      text.ended = text.said.size() >= framing.max_len;
    }
  }

  /// How many there are.
  std::size_t count() const { return texts_.size(); }

  /// Whether text k has ended: the token that ends was said, or there are max_len tokens.
  bool ended(std::size_t k) const { return texts_[k].ended; }

  /// Whether all have ended.
  bool ended() const {
    return std::all_of(texts_.begin(), texts_.end(), [](const Text& text) { return text.ended; });
  }

  /// The scores of the tokens that may follow, a row for each text that has not ended, in their order: reads what was said
  /// since the last call, and so is called once before each of them says a token.
  Matrix<n, vocab_size, Real> next() {
    std::vector<std::size_t> unread(texts_.size());
    std::size_t open = 0;
    for (std::size_t k = 0; k < texts_.size(); ++k) {
      unread[k] = texts_[k].unread();
      open += !texts_[k].ended;
    }
    Tokens tokens{Sequences::of_lengths(unread)};
    Token* to = tokens.data();
    for (Text& text : texts_) {
      to = std::copy_n(text.said.data() + text.read, text.unread(), to);
      text.read += text.unread();
    }
    const auto Y = read(tokens);
    require_same_sequences("what the model reads", tokens.sequences(), "the scores that it returns", Y.sequences());
    Matrix<n, vocab_size, Real> last{Sequences{open}};
    for (std::size_t k = 0, row = 0; k < texts_.size(); ++k)
      if (!texts_[k].ended) last.row(row++) = Y.row(Y.sequences().end(k) - 1);
    return last;
  }

  /// Text k goes on with a token.
  void say(std::size_t k, Token token) {
    Text& text = texts_[k];
    text.said.push_back(token);
    text.ended = token == framing_.end || text.said.size() >= framing_.max_len;
  }

  /// What text k has said, without the token that starts; with what is given, if the model continues that.
  std::vector<Token> text(std::size_t k) const { return {texts_[k].said.begin() + 1, texts_[k].said.end()}; }

 private:
  using Score = std::remove_cvref_t<decltype(scores(std::declval<const T&>()))>;
  struct Text {
    std::vector<Token> said;
    std::size_t read = 0;  // so many of them by the model
    bool ended = false;

    std::size_t unread() const { return ended ? 0 : said.size() - read; }
  };

  auto read(const Tokens& unread) {
    const bool first = std::exchange(first_, false);
    if constexpr (CanDecode<T>::of_tokens)
      return first ? behind_a_start([&] { return advance(*score_, state_, unread); })
                   : advance(*score_, state_, unread);
    else
      return advance(*score_, state_, {sources_, unread});
  }

  const Score* score_;
  Tokens sources_;  // of an encoder–decoder
  Framing framing_;
  std::vector<Text> texts_;
  State<Score> state_{};
  bool first_ = true;
};

/// What a model says (Utterances) to each that is given, until it says the token that ends or the text has max_len tokens;
/// without the token that starts. Each token is chosen by the scores in the last row. (Notebook, transformerLM_output.)
///
/// All texts go on together, each by a token: with a choice that draws, in this order. Throws std::length_error if what is
/// given leaves no room; std::invalid_argument for an empty source; whatever the model or the choice throws.
template <class T, class Choice = Greedy>
std::vector<std::vector<Token>> decode_all(const T& model, const std::vector<std::vector<Token>>& given,
                                           const Framing& framing, const Choice& choose = {}) {
  static_assert(IsLayer<T>::value);
  std::vector<std::vector<Token>> texts(given.size());
  if constexpr (CanDecode<T>::value) {
    Utterances<T> utterances{model, given, framing};
    while (!utterances.ended()) {
      const auto Y = utterances.next();
      for (std::size_t k = 0, row = 0; k < utterances.count(); ++k)
        if (!utterances.ended(k)) utterances.say(k, choose(Y.row(row++).data(), T::codomain::cols));
    }
    for (std::size_t k = 0; k < texts.size(); ++k) texts[k] = utterances.text(k);
  }
  return texts;
}

/// What a model says to one alone (decode_all).
template <class T, class Choice = Greedy>
std::vector<Token> decode(const T& model, const std::vector<Token>& given, const Framing& framing,
                          const Choice& choose = {}) {
  const auto texts = decode_all(model, {given}, framing, choose);
  return texts.empty() ? std::vector<Token>{} : texts.front();
}

}  // namespace tlm
