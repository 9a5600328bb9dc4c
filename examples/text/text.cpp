// SPDX-License-Identifier: MIT
// Trains T_LM on any text file, and lets it continue texts. Measures in bits per byte how well it predicts the last
// tenth of the text, which it has not seen.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <examples/shared/command_line.hpp>
#include <examples/shared/learning.hpp>
#include <examples/shared/read_file.hpp>
#include <examples/shared/settings.hpp>
#include <examples/shared/utf8.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/text/byte_pairs.hpp>
#include <tlm/training/micro_batches.hpp>

#include "compressed.hpp"
#include "model.hpp"
#include "passing_over.hpp"

namespace {

constexpr tlm::Config config{
    .vocab_size = 512, .d_model = 128, .d_ff = 512, .n_layers = 4, .n_heads = 4, .max_len = 64};
using Model = NoisyLM<config, 20>::Model;
using Tokenizer = tlm::BytePairs<config.vocab_size>;

/// The options of `text`.
struct Options {
  program::Settings settings{.model = "text.safetensors", .steps = 2400, .learning_rate = 0.002};
  std::string text = "/usr/share/common-licenses/GPL-3";
  std::size_t tokens = 200;
  double temperature = 0.8, top_p = 1;
  std::size_t top_k = config.vocab_size;
  std::string prompt;
};

// The share of pairs that are skipped when a text is split into tokens to learn from.
constexpr double passed_over = 0.15;

/// A text without its last tenth, the last tenth, and what identifies the whole.
struct Text {
  std::string known, held_out;
  program::Data data;
};

Text read(const std::string& path) {
  std::string text = program::read_file(path);
  const std::size_t least = 20 * config.max_len;
  if (text.size() < least)
    throw std::invalid_argument(path + " has " + std::to_string(text.size()) +
                                " bytes: a text to learn from needs at least " + std::to_string(least));
  program::Data data{path, program::identity_of(text)};
  std::string held_out = text.substr(text.size() / 10 * 9);
  text.resize(text.size() - held_out.size());
  return {std::move(text), std::move(held_out), std::move(data)};
}

/// The held-out text in windows, which begin as in training. In each only the second half counts, so that every token has
/// half a window before it.
tlm::MicroBatches<tlm::Batch<>> windows(const Text& text, const Tokenizer& tokenizer) {
  constexpr std::size_t half = config.max_len / 2;
  auto tokens = tokenizer.encode(text.known);
  if (tokens.size() < config.max_len + 1)
    throw std::invalid_argument("the text has " + std::to_string(tokens.size()) + " tokens to learn from: at least " +
                                std::to_string(config.max_len + 1) + " are needed");
  tokens.erase(tokens.begin(), tokens.end() - std::ptrdiff_t(half));
  for (const tlm::Token token : tokenizer.encode(text.held_out)) tokens.push_back(token);
  tlm::MicroBatches<tlm::Batch<>> held_out;
  for (std::size_t begin = 0; begin + half < tokens.size(); begin += half) {
    const auto at = [&](std::size_t k) { return tokens.begin() + std::ptrdiff_t(k); };
    const std::vector<tlm::Token> window{at(begin), at(std::min(begin + 2 * half, tokens.size()))};
    held_out.batches.push_back(tlm::unweighted(Tokenizer::start, tlm::Tokens{window}));
    for (std::size_t i = 0; i < half; ++i) held_out.batches.back().omega(i, 0) = 0;
  }
  return held_out;
}

/// −log of the probability that the model gives to the held-out text, for each token. And −log₂ of it for each byte.
struct Surprise {
  double of_a_token, bits_per_byte;

  Surprise(const Model& model, const tlm::MicroBatches<tlm::Batch<>>& windows, const Text& text) {
    const auto sum = double(tlm::loss(model, windows, tlm::Sum{}));
    of_a_token = sum / double(tlm::sum_of_weights<Model>(windows));
    bits_per_byte = sum / std::log(2.0) / double(text.held_out.size());
  }
};

/// Bits per byte of the held-out text, if each byte is predicted from the one before it. The prediction counts how
/// often one followed the other in the known text, and adds 1/16 to each count.
double of_bigrams(const Text& text) {
  constexpr double more = 1.0 / 16;
  std::array<std::array<double, 256>, 256> count{};
  std::array<double, 256> sum{};
  const auto byte = [](char c) { return std::size_t{static_cast<unsigned char>(c)}; };
  for (std::size_t i = 1; i < text.known.size(); ++i) {
    ++count[byte(text.known[i - 1])][byte(text.known[i])];
    ++sum[byte(text.known[i - 1])];
  }
  double bits = 0;
  char before = text.known.back();
  for (const char c : text.held_out) {
    bits -= std::log2((count[byte(before)][byte(c)] + more) / (sum[byte(before)] + 256 * more));
    before = c;
  }
  return bits / double(text.held_out.size());
}

/// Trains a model on a text without its last tenth, and saves the model.
void train(Options options) {
  auto& settings = options.settings;
  if (settings.resume) {
    const program::ModelFile file{settings.model, "text"};
    file.settle(settings);
    options.text = file.text("text");
  }
  const program::RunFiles files{settings, {{"the text", options.text}}};
  const std::size_t steps = settings.steps.value();
  const Text text = read(options.text);
  const auto learning =
      std::make_unique<program::Learning<Model>>(settings,
                                                 program::Recipe{.weight_decay = 0.1,
                                                                 .warm_up = std::min<std::size_t>(100, steps / 10),
                                                                 .patience = 5,
                                                                 .every = std::max<std::size_t>(25, steps / 20)},
                                                 tlm::storage::Metadata{{"program", "text"}, {"text", options.text}},
                                                 text.data, [&] { return Tokenizer::learned(text.known).list(); });
  auto& run = learning->run;
  const auto tokenizer = Tokenizer::from_list(run.tokenizer);
  const auto held_out = windows(text, tokenizer);
  const std::size_t count = tokenizer.encode(text.known).size();
  std::cout << "T_LM with " << tlm::parameter_count<Model> << " weights learns " << options.text << ", "
            << text.known.size() << " bytes or " << count << " tokens of it, " << learning->described() << std::endl;
  // Whenever as many tokens were read as the text has, the text is split again. How depends on the seed and the step.
  // With the same tokens all the time, the model would know so short a text by heart before it has learned much.
  const std::uint64_t steps_of_a_split = 1 + count / (settings.batch_size * config.max_len);
  std::vector<tlm::Token> known;
  std::optional<std::uint64_t> split;
  const auto next_batch = [&] {
    if (const auto now = run.step / steps_of_a_split; split != now) {
      tlm::Generator generator{settings.seed ^ tlm::mixed(now)};
      known = passing_over(tokenizer, text.known, passed_over, generator);
      split = now;
    }
    std::vector<std::vector<tlm::Token>> windows;
    for (std::size_t s = 0; s < settings.batch_size; ++s) {
      const auto begin = known.begin() + run.generator.integer(0, int(known.size() - config.max_len));
      windows.emplace_back(begin, begin + std::ptrdiff_t(config.max_len));
    }
    return tlm::unweighted(Tokenizer::start, tlm::Tokens{windows});
  };
  const auto evaluate = [&] {
    const Surprise surprise{run.model, held_out, text};
    std::ostringstream more;
    more << "  " << std::fixed << std::setprecision(3) << surprise.bits_per_byte
         << " bits per byte of the last tenth\n";
    return std::pair{surprise.of_a_token, more.str()};
  };
  // Asks what follows half a window. The attention of the first is shown.
  const auto keep = [&](program::Record& record, const Model& model) {
    constexpr std::size_t half = config.max_len / 2;
    const auto tokens = tokenizer.encode(text.held_out);
    const auto part = [](const std::vector<tlm::Token>& of, std::size_t begin, std::size_t end) {
      return std::vector<tlm::Token>{of.begin() + std::ptrdiff_t(begin), of.begin() + std::ptrdiff_t(end)};
    };
    const auto written = [&](const std::vector<tlm::Token>& said) { return program::as_utf8(tokenizer.decode(said)); };
    for (std::size_t begin = 0; begin + half < tokens.size(); begin += half) {
      const auto asked = part(tokens, begin, begin + half);
      const auto longer = tlm::decode(model, asked, {Tokenizer::start, Tokenizer::end, half + 2});
      record.answer(written(asked), written(part(longer, half, longer.size())),
                    written(part(tokens, begin + half, begin + half + 1)));
    }
    auto read = part(tokens, 0, std::min(half, tokens.size()));
    read.insert(read.begin(), Tokenizer::start);
    const auto keep_kernel = [&](const std::string& layer, const auto& A) {
      record.attention(layer, A, program::labels(read, tokenizer), program::labels(read, tokenizer));
    };
    program::Walk{keep_kernel}("", model, tlm::Tokens{read});
  };
  program::learn(*learning, next_batch, evaluate, keep);
}

/// Continues the prompt, and prints the text.
void sample(const Options& options) {
  auto model = std::make_unique<Model>();
  const std::string& file = options.settings.model;
  const auto tokenizer = Tokenizer::from_list(tlm::storage::load_best(file, *model, {{"program", "text"}}));
  tlm::Generator generator{options.settings.seed};
  const tlm::Sampled choose{generator, options.temperature, options.top_k, options.top_p};
  std::vector<tlm::Token> said = tokenizer.encode(options.prompt);
  std::cout << options.prompt;
  // The model sees at most this many tokens. When they are full, it goes on from their second half.
  for (std::size_t left = options.tokens; left > 0;) {
    if (said.size() + 1 >= config.max_len) said.erase(said.begin(), said.end() - std::ptrdiff_t(config.max_len / 2));
    const std::size_t room = std::min(left, config.max_len - 1 - said.size());
    const auto longer = tlm::decode(*model, said, {Tokenizer::start, Tokenizer::end, said.size() + 1 + room}, choose);
    const std::vector<tlm::Token> more{longer.begin() + std::ptrdiff_t(said.size()), longer.end()};
    std::cout << tokenizer.decode(more) << std::flush;
    left -= more.size();
    said = longer;
  }
  std::cout << '\n';
}

/// Prints how well the model predicts the last tenth of its text, in bits per byte, beside other methods.
void evaluate(const Options& options) {
  auto model = std::make_unique<Model>();
  const std::string& file = options.settings.model;
  const program::ModelFile about{file, "text"};
  const std::string& path = about.text("text");
  const Text text = read(path);
  about.require_data(text.data, options.settings.other_data);
  const auto tokenizer = Tokenizer::from_list(tlm::storage::load_best(file, *model));
  const auto per_byte = [&](double bytes) { return 8 * bytes / double(text.held_out.size()); };
  struct Line {
    const char* what;
    std::function<double()> bits;
  };
  std::cout << "bits per byte of the last " << text.held_out.size() << " bytes of " << path << '\n';
  for (const Line& line :
       {Line{"T_LM",
             [&] {
               return Surprise{*model, windows(text, tokenizer), text}.bits_per_byte;
             }},
        Line{"a byte by the byte before it", [&] { return of_bigrams(text); }},
        Line{"gzip -9 of these alone", [&] { return per_byte(compressed::by_gzip(text.held_out)); }},
        Line{"xz -9 of these alone", [&] { return per_byte(compressed::by_xz(text.held_out)); }},
        Line{"xz -9 that has read what comes before", [&] {
               return per_byte(compressed::by_xz(text.known + text.held_out) - compressed::by_xz(text.known));
             }}}) {
    std::cout << "  " << std::left << std::setw(40) << line.what << std::right << std::fixed << std::setprecision(2);
    try {
      std::cout << line.bits() << std::endl;
    } catch (const compressed::Unavailable& why) {
      std::cout << "left out: " << why.what() << std::endl;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line{"text",
                            "Trains the Transformer Language Model on a text file, lets it write on, and measures it."};
  Options options;
  program::Command training =
      line.add_command("train", "Learns a text but for its last tenth, and saves what it learned");
  training.add_text("text", options.text, "FILE", program::with_standard("The text", options.text));
  training.add_settings(options.settings, "windows", {"text"});
  program::Command sampling = line.add_command("sample", "Continues a text");
  sampling.add_text("beginning", options.prompt, "TEXT", "The beginning; none if it is left out");
  sampling.add_model(options.settings);
  sampling.add_integer("--tokens", options.tokens, 1, 1'000'000,
                       program::with_standard("How many tokens to write", options.tokens));
  sampling.add_positive("--temperature", options.temperature,
                        program::with_standard("Less is more certain", options.temperature));
  sampling.add_integer("--top-k", options.top_k, 1, config.vocab_size, "Only the likeliest tokens (all)");
  sampling.add_positive("--top-p", options.top_p, "Only the likeliest that have this probability together (1)", 1);
  sampling.add_seed(options.settings);
  program::Command testing = line.add_command("evaluate", "Measures the model on the last tenth, beside other means");
  testing.add_model(options.settings);
  testing.add_other_data(options.settings);
  return line.run(argc, argv, [&] {
    if (training.is_given()) train(options);
    if (sampling.is_given()) sample(options);
    if (testing.is_given()) evaluate(options);
  });
}
