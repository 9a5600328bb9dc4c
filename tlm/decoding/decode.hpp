// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/decoding/choice.hpp>
#include <tlm/matrix/vocabulary.hpp>
#include <tlm/training/loss.hpp>

/// Decoding: a model generates a text, token by token.
namespace tlm {

/// Where a text begins and ends: the start token, the end token, and how many tokens it may have, with the start token.
struct GenerationLimits {
  Token start;
  Token end;  ///< With one that is not in the vocabulary, such as −1, every text has max_len tokens.
  std::size_t max_len;
};

namespace detail {

/// The condition under which a model can be decoded token by token. A failure shows the model.
template <class T>
struct CanDecode {
  static constexpr bool of_tokens = std::is_same_v<DomainOf<T>, Tokens>;
  static constexpr bool of_source = std::is_same_v<DomainOf<T>, SourceAndTarget<Tokens, Tokens>>;
  static constexpr bool is_layer = Layer<T>, looks_back = !is_layer || autoregressive<T>;
  static constexpr bool fits = !is_layer || !looks_back || of_tokens || of_source;
  static constexpr bool value = is_layer && looks_back && fits;
  static_assert(IsLayer<T>::value);
  static_assert(looks_back, "decoding extends what was computed, which needs a model that is autoregressive by type");
  static_assert(fits, "a model that decodes reads tokens: sequences of them, or a source and a target");
};

}  // namespace detail

/// A decoding session: texts that a model generates together, token by token, and the model's state (the KV cache).
/// There is one way to continue a text: next_scores(), then append(k, token). A copy is a session of its own, which
/// continues from there without computing anything again.
///
/// A language model continues what it is given, after the start token. An encoder–decoder answers it: what it is given
/// is the source, and the answer begins with the start token. The model reads a token at most once: its row is computed by
/// extending what was computed before. The texts are a stack of sequences. One that has ended grows no more.
template <class T>
class Generation {
 public:
  using Real = typename CodomainOf<T>::Real;
  static constexpr std::size_t vocab_size = CodomainOf<T>::cols;

  /// One text for each that is given. The model must outlive the session. Throws std::length_error if what is given is
  /// longer than max_len with the start token, if max_len is 0, or if the model's `config` says that the model cannot read
  /// max_len − 1 tokens. Throws std::out_of_range for a given token that has no score, and std::invalid_argument for an empty
  /// source.
  Generation(const T& model, const std::vector<std::vector<Token>>& given, const GenerationLimits& limits)
      : score_{&before_softmax(model)}, limits_{limits} {
    if constexpr (detail::CanDecode<T>::of_tokens)
      require_in_vocabulary(Tokens{given}, vocab_size, "given");
    else
      sources_ = Tokens{given};
    if (limits.max_len == 0) refuse<std::length_error>({"max_len is 0: a text has at least the start token"});
    if constexpr (requires { std::size_t{T::config.max_len}; })
      if (limits.max_len > T::config.max_len + 1)
        refuse<std::length_error>({"max_len is ", limits.max_len, ", but a model that reads ", T::config.max_len,
                                   " tokens generates no more than ", T::config.max_len + 1, ", with the start token"});
    for (const std::vector<Token>& beginning : given) {
      std::vector<Token> tokens{limits.start};
      if constexpr (detail::CanDecode<T>::of_tokens)
        tokens.insert(tokens.end(), beginning.begin(), beginning.end());
      else if (beginning.empty())
        refuse<std::invalid_argument>({"the source is empty: the decoder has nothing to look at"});
      if (tokens.size() > limits.max_len)
        refuse<std::length_error>({"a text begins with ", tokens.size(),
                                   " tokens, the start token among them, and there is room for ", limits.max_len});
      const bool ended = tokens.size() == limits.max_len;
      texts_.push_back({std::move(tokens), 0, ended});
    }
  }

  Generation(const T&&, const std::vector<std::vector<Token>>&, const GenerationLimits&) = delete;

  /// The number of texts.
  std::size_t count() const { return texts_.size(); }

  /// True if text k has ended: with the end token, or with max_len tokens. Throws std::out_of_range if there is no text k.
  bool ended(std::size_t k) const { return texts_[there(k)].ended; }

  /// True if all texts have ended.
  bool ended() const {
    return std::all_of(texts_.begin(), texts_.end(), [](const Text& text) { return text.ended; });
  }

  /// The scores of the tokens that may follow: a row for each text that has not ended, in their order. The model reads
  /// what was appended since the last call. Throws std::logic_error if nothing was appended to one of these texts.
  /// Throws what the model throws; then the session must not be used any more.
  Matrix<n, vocab_size, Real> next_scores() {
    std::vector<std::vector<Token>> unread;
    std::size_t open = 0;
    for (std::size_t k = 0; k < count(); ++k) {
      const auto& [tokens, read, ended] = texts_[k];
      if (!ended && read == tokens.size())
        refuse<std::logic_error>({"text ", k, " was not continued after its last scores: append a token to it first"});
      unread.emplace_back(ended ? tokens.end() : tokens.begin() + std::ptrdiff_t(read), tokens.end());
      open += !ended;
    }
    const Tokens tokens{unread};
    const auto Y = read(tokens);
    require_same_sequences("what the model reads", tokens.sequences(), "the scores that it returns", Y.sequences());
    Matrix<n, vocab_size, Real> last{Sequences{open}};
    for (std::size_t k = 0, row = 0; k < texts_.size(); ++k)
      if (Text& text = texts_[k]; !text.ended) {
        last.row(row++) = Y.row(Y.sequences().end(k) - 1);
        text.read = text.tokens.size();
      }
    return last;
  }

  /// Appends a token to text k. Throws std::logic_error if the text has ended. Throws std::out_of_range for a token that
  /// is neither the end token nor in the vocabulary, and if there is no text k.
  void append(std::size_t k, Token token) {
    Text& text = texts_[there(k)];
    if (text.ended) refuse<std::logic_error>({"text ", k, " has ended: nothing is appended to it"});
    if (token != limits_.end && (token < 0 || std::size_t(token) >= vocab_size))
      refuse<std::out_of_range>({"token ", token, " is not in the vocabulary: tokens are 0 to ", vocab_size - 1});
    text.tokens.push_back(token);
    text.ended = token == limits_.end || text.tokens.size() >= limits_.max_len;
  }

  /// Text k, without the start token. If the model continues what is given, the text begins with that. Throws
  /// std::out_of_range if there is no text k.
  std::vector<Token> text(std::size_t k) const {
    const auto& tokens = texts_[there(k)].tokens;
    return {tokens.begin() + 1, tokens.end()};
  }

 private:
  using Score = std::remove_cvref_t<decltype(before_softmax(std::declval<const T&>()))>;
  struct Text {
    std::vector<Token> tokens;
    std::size_t read;  // this many of them by the model
    bool ended;
  };
  std::size_t there(std::size_t k) const {
    if (k >= count()) refuse<std::out_of_range>({"there is no text ", k, ", only ", count(), " of them, from 0"});
    return k;
  }

  auto read(const Tokens& unread) {
    if constexpr (detail::CanDecode<T>::of_tokens)
      return advance(*score_, state_, unread);
    else
      return advance(*score_, state_, {sources_, unread});
  }

  const Score* score_;
  Tokens sources_;  // of an encoder–decoder
  GenerationLimits limits_;
  std::vector<Text> texts_;
  State<Score> state_{};
};

/// The texts that a model generates from those that are given, without the start token. Each text grows until the end
/// token is chosen, or it has max_len tokens. Each token is chosen by the scores in the last row. (Notebook,
/// transformerLM_output.)
///
/// All texts grow together, a token each, and a choice draws in this order. Throws what Generation, the model and the
/// choice throw.
template <class T, class Choice = Greedy>
std::vector<std::vector<Token>> decode_all(const T& model, const std::vector<std::vector<Token>>& given,
                                           const GenerationLimits& limits, const Choice& choose = {}) {
  std::vector<std::vector<Token>> texts(given.size());
  if constexpr (detail::CanDecode<T>::value) {
    Generation<T> generation{model, given, limits};
    while (!generation.ended()) {
      const auto Y = generation.next_scores();
      for (std::size_t k = 0, row = 0; k < generation.count(); ++k)
        if (!generation.ended(k)) generation.append(k, choose(Y.row(row++).data(), T::codomain::cols));
    }
    for (std::size_t k = 0; k < texts.size(); ++k) texts[k] = generation.text(k);
  }
  return texts;
}

/// The text that a model generates from one that is given (decode_all).
template <class T, class Choice = Greedy>
std::vector<Token> decode(const T& model, const std::vector<Token>& given, const GenerationLimits& limits,
                          const Choice& choose = {}) {
  return decode_all(model, {given}, limits, choose).front();
}

}  // namespace tlm
