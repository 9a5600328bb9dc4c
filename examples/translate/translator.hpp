// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <examples/shared/learning.hpp>
#include <examples/shared/utf8.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/decoding/beam_search.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/models/wolfram_transformer.hpp>
#include <tlm/text/byte_pairs.hpp>
#include <tlm/training/micro_batches.hpp>
#include <tlm/training/translations.hpp>
#include "f_score.hpp"

#include "corpus.hpp"
#include "options.hpp"

/// The Wolfram article's model, with a given number of blocks, and its tokens.
template <std::size_t vocab_size, std::size_t blocks, std::size_t max_len>
class Translator {
 public:
  static constexpr tlm::wolfram::Config config{
      .src_vocab_size = vocab_size, .tgt_vocab_size = vocab_size, .blocks = blocks, .max_len = max_len};
  using Model = tlm::wolfram::Transformer<config>;
  using Tokenizer = tlm::BytePairs<vocab_size>;

  /// Learns from a corpus, from the beginning or from the step that a file has reached.
  static void train(const program::Settings& settings, const Corpus& corpus) {
    const std::size_t steps = settings.steps.value();
    const program::Recipe recipe{
        .weight_decay = 0,
        .warm_up = std::min<std::size_t>(200, steps / 10),
        .patience = corpus.draw ? std::numeric_limits<std::uint64_t>::max() : 6,  // nothing to learn by heart
        .every = std::max<std::size_t>(50, steps / 40)};
    const auto learning = std::make_unique<program::Learning<Model>>(
        settings, recipe,
        tlm::storage::Metadata{{"program", "translate"}, {"corpus", corpus.name}, {"blocks", std::to_string(blocks)}},
        program::Data{corpus.name, corpus.identity},
        [&] { return Tokenizer::learned(tlm::lines_of(corpus.known)).list(); });
    auto& run = learning->run;
    const auto tokenizer = Tokenizer::from_list(run.tokenizer);
    std::cout << "an encoder-decoder of " << blocks << " and " << blocks << " blocks, "
              << tlm::parameter_count<Model> << " weights, learns " << corpus.name << ' ' << learning->described()
              << std::endl;

    const tlm::TokenPairs known = tlm::tokens_of(corpus.known, tokenizer, max_len),
                          held_out = tlm::tokens_of(corpus.validation, tokenizer, max_len);
    if (!known.left_out.empty()) std::cout << "to learn from, " << tlm::sentence_of(known.left_out) << std::endl;
    if (known.sources.empty() || held_out.sources.empty())
      throw std::invalid_argument("no sentence is short enough: " +
                                  tlm::sentence_of(known.sources.empty() ? known.left_out : held_out.left_out));
    const auto validation =
        tlm::micro_batches(tlm::Translations{tlm::Tokens{held_out.sources}, tlm::Tokens{held_out.targets}},
                           std::min<std::size_t>(32, held_out.sources.size()));
    const auto next_batch = [&] {
      std::vector<std::vector<tlm::Token>> x, y;
      for (std::size_t s = 0; s < settings.batch_size; ++s) {
        if (corpus.draw) {
          const auto pair = corpus.draw(run.generator);
          x.push_back(tlm::framed(tokenizer, pair.source));
          y.push_back(tlm::framed(tokenizer, pair.target));
        } else {
          const auto k = std::size_t(run.generator.integer(0, int(known.sources.size()) - 1));
          x.push_back(known.sources[k]);
          y.push_back(known.targets[k]);
        }
      }
      return tlm::Translations{tlm::Tokens{x}, tlm::Tokens{y}};
    };
    const auto& asked = held_out.pairs;
    const auto answers_of = [&](const Model& model) {
      return program::on_threads(settings.threads, asked.size(),
                                 [&](std::size_t k) { return said(model, tokenizer, asked[k].source); });
    };
    const auto evaluate = [&] {
      const auto answers = answers_of(run.model);
      std::size_t right = 0;
      for (std::size_t k = 0; k < answers.size(); ++k) right += answers[k] == asked[k].target;
      const std::size_t shown = run.step / recipe.every % answers.size();
      std::ostringstream more;
      more << "  exactly right " << std::fixed << std::setprecision(1) << 100 * double(right) / double(asked.size())
           << " % of " << asked.size() << " held out; « " << asked[shown].source << " » → « " << answers[shown]
           << " »\n";
      return std::pair{double(tlm::loss(run.model, validation)), more.str()};
    };
    const auto keep = [&](program::Record& record, const Model& model) {
      const auto answers = answers_of(model);
      for (std::size_t k = 0; k < answers.size(); ++k) record.answer(asked[k].source, answers[k], asked[k].target);
      const auto& source = held_out.sources.front();
      auto read = held_out.targets.front();
      read.pop_back();  // nothing follows the end
      const auto keep_kernel = [&](const std::string& layer, const auto& A) {
        const bool of_encoder = layer.starts_with("encoder"), of_source = of_encoder || layer.ends_with("cross");
        record.attention(layer, A, program::labels(of_encoder ? source : read, tokenizer),
                         program::labels(of_source ? source : read, tokenizer));
      };
      program::Walk{keep_kernel}(
          "", model, tlm::SourceAndTarget<tlm::Tokens, tlm::Tokens>{tlm::Tokens{source}, tlm::Tokens{read}});
    };
    program::learn(*learning, next_batch, evaluate, keep);
  }

  /// The function that translates a sentence with the model of a file.
  static std::function<std::string(const std::string&)> from_file(const Options& options) {
    const auto translator = std::make_shared<const Translator>(options);
    return [translator](const std::string& sentence) { return (*translator)(sentence); };
  }

  /// The model of a file.
  explicit Translator(const Options& options)
      : model_{std::make_unique<Model>()},
        tokenizer_{Tokenizer::from_list(tlm::storage::load_best(options.settings.model, *model_))},
        beam_{std::size_t(options.beam)} {}

  /// The translation of a sentence. Throws std::length_error if it is too long.
  std::string operator()(const std::string& sentence) const {
    if (const std::size_t length = tlm::framed(tokenizer_, sentence).size(); length > max_len)
      throw std::length_error("it has " + std::to_string(length) + " tokens, and the model reads " +
                              std::to_string(max_len) + " at the most");
    if (beam_ == 1) return said(*model_, tokenizer_, sentence);
    const auto found = tlm::beam_search(*model_, tlm::framed(tokenizer_, sentence),
                                        {Tokenizer::start, Tokenizer::end, max_len}, {beam_});
    return program::as_utf8(tokenizer_.decode(found.front().text));
  }

 private:
  static std::string said(const Model& model, const Tokenizer& tokenizer, const std::string& sentence) {
    return program::as_utf8(tokenizer.decode(
        tlm::decode(model, tlm::framed(tokenizer, sentence), {Tokenizer::start, Tokenizer::end, max_len})));
  }

  std::unique_ptr<Model> model_;
  Tokenizer tokenizer_;
  std::size_t beam_;
};
