// SPDX-License-Identifier: MIT
// Trains the Wolfram article's encoder–decoder to translate, translates with it, and tests it on pairs that it has not
// seen.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <examples/shared/command_line.hpp>
#include <examples/shared/learning.hpp>
#include <tlm/text/lines.hpp>

#include "corpus.hpp"
#include "f_score.hpp"
#include "options.hpp"
#include "translator.hpp"

namespace {

/// A model of some size: how it is trained, and how it is read from a file.
struct OfSize {
  std::size_t steps;  ///< The default number of steps, and the default maximum of the learning rate.
  double learning_rate;
  void (*train)(const program::Settings&, const Corpus&);
  std::function<std::string(const std::string&)> (*translator)(const Options&);
};

template <class T>
constexpr OfSize of_size(std::size_t steps, double learning_rate) {
  return {steps, learning_rate, &T::train, &T::from_file};
}

// Merges for the words of numbers: most words are a token or two.
constexpr std::size_t words_of_numbers = 448;

/// For numbers, with two and two blocks, and with six and six as published. For any sentences, as published.
constexpr OfSize numbers_2 = of_size<Translator<words_of_numbers, 2, 64>>(2300, 0.002);
constexpr OfSize numbers_6 = of_size<Translator<words_of_numbers, 6, 64>>(3600, 0.001);
constexpr OfSize sentences_6 = of_size<Translator<2048, 6, 128>>(30000, 0.001);

/// The name of a corpus that is a file of the user begins with this. The rest is the path.
constexpr std::string_view of_pairs = "pairs ";

/// The corpus of this name, as it is in a file.
Corpus corpus_of(const std::string& name) {
  if (name == "numbers") return numbers();
  const std::size_t space = name.find(' ');
  const std::string kind = name.substr(0, space), which = space == name.npos ? "" : name.substr(space + 1);
  if (kind == "catalogues") return sentences(name, tlm::installed_pairs(which));
  return sentences(name, tlm::read_pairs(which));
}

const OfSize& size_of(const std::string& corpus, int blocks) {
  if (corpus != "numbers") return sentences_6;
  return blocks == 2 ? numbers_2 : numbers_6;
}

void train(Options options) {
  std::string name =
      options.corpus == Options::CorpusKind::numbers ? "numbers" : "catalogues " + options.language.value_or("fr");
  if (!options.pairs.empty()) name = std::string(of_pairs) + options.pairs;
  if (options.corpus != Options::CorpusKind::catalogues && options.language)
    throw program::WrongOption("--language", "it is of --corpus catalogues");
  auto& settings = options.settings;
  if (settings.resume) {
    const program::ModelFile file{settings.model, "translate"};
    file.settle(settings);
    name = file.text("corpus");
    options.blocks = int(file.integer("blocks", 2, 6));
  } else if (name != "numbers" && options.blocks != 6) {
    throw program::WrongOption("--blocks", "other sentences than numbers take the published 6");
  }
  std::vector<program::NamedFile> read;
  if (name.starts_with(of_pairs)) read.push_back({"--pairs", name.substr(of_pairs.size())});
  const program::RunFiles files{settings, read};
  const OfSize& size = size_of(name, options.blocks);
  if (!settings.steps) settings.steps = size.steps;
  if (!settings.learning_rate) settings.learning_rate = size.learning_rate;
  size.train(settings, corpus_of(name));
}

std::function<std::string(const std::string&)> translator(const Options& options) {
  const program::ModelFile file{options.settings.model, "translate"};
  return size_of(file.text("corpus"), int(file.integer("blocks", 2, 6))).translator(options);
}

/// Each sentence is a line, wherever it is read from. A sentence that is too long is reported at once, and its
/// translation is an empty line.
void translate(const Options& options) {
  const auto model = translator(options);
  std::size_t number = 0, too_long = 0;
  const auto print_translation = [&](std::string_view line, const char* what) {
    ++number;
    const std::string sentence{tlm::bare_line(line)};
    std::string translation;
    try {
      if (!sentence.empty()) translation = model(sentence);
    } catch (const std::length_error& why) {
      ++too_long;
      std::cerr << "translate: " << what << ' ' << number << " is left out: " << why.what() << std::endl;
    }
    std::cout << translation << std::endl;
  };
  for (const std::string& sentence : options.sentences) print_translation(sentence, "sentence");
  if (options.sentences.empty())
    for (std::string line; std::getline(std::cin, line);) print_translation(line, "line");
  if (std::ferror(stdin) != 0)
    throw std::runtime_error(std::string("standard input cannot be read: ") + std::strerror(errno));
  if (too_long > 0) throw program::Unfinished(std::to_string(too_long) + " of " + std::to_string(number) + " left out");
}

void evaluate(const Options& options) {
  const auto to = translator(options);
  const program::ModelFile file{options.settings.model, "translate"};
  const Corpus corpus = corpus_of(file.text("corpus"));
  file.require_data({corpus.name, corpus.identity}, options.settings.other_data);
  struct Line {
    const char* what;
    std::function<std::string(const std::string&)> translate;
  };
  const tlm::NearestSentence nearest{corpus.known};
  std::atomic<std::size_t> too_long = 0;
  const auto by_model = [&](const std::string& source) {
    try {
      return to(source);
    } catch (const std::length_error&) {
      ++too_long;
      return std::string();
    }
  };
  std::cout << corpus.held_out.size() << " pairs of " << corpus.name << " that are held out\n"
            << "                          exactly right   character F-score\n";
  for (const Line& line :
       {Line{"the model               ", by_model},
        Line{"the nearest sentence    ", [&](const std::string& source) { return nearest(source).target; }},
        Line{"the source as it is     ", [](const std::string& source) { return source; }}}) {
    const auto said = program::on_threads(options.settings.threads, corpus.held_out.size(),
                                          [&](std::size_t k) { return line.translate(corpus.held_out[k].source); });
    std::size_t right = 0;
    tlm::CharacterFScore score;
    for (std::size_t k = 0; k < said.size(); ++k) {
      right += said[k] == corpus.held_out[k].target;
      score.add(said[k], corpus.held_out[k].target);
    }
    std::cout << line.what << std::fixed << std::setprecision(1) << std::setw(13)
              << 100 * double(right) / double(corpus.held_out.size()) << " %" << std::setprecision(3) << std::setw(20)
              << score.value() << std::endl;
  }
  if (too_long > 0) std::cout << too_long << " of them are too long for the model, which says nothing to them\n";
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line{"translate",
                            "Trains an encoder-decoder to translate from English, translates with it, and tests it."};
  Options options;
  program::Command training = line.add_command("train", "Learns from pairs of sentences, and saves what it learned");
  training.add_choice("--corpus", options.corpus,
                      {{"numbers", Options::CorpusKind::numbers}, {"catalogues", Options::CorpusKind::catalogues}},
                      "Numbers in words, or what the programs of this machine say (numbers)");
  training.add_text("--language", options.language, "LANGUAGE", "Of the catalogues (fr)");
  training.add_file("--pairs", options.pairs,
                    "Pairs of your own instead: a sentence, a tab, its translation; one a line");
  training.exclude("--pairs", {"--corpus"});
  training.add_choice("--blocks", options.blocks, {{"2", 2}, {"6", 6}},
                      "How many encoder blocks, and decoder blocks (6); 2 for numbers alone");
  training.add_settings(options.settings, "pairs", {"--corpus", "--language", "--pairs", "--blocks"});
  program::Command translating = line.add_command("translate", "Translates sentences, or the lines of standard input");
  translating.add_model(options.settings);
  translating.add_integer("--beam", options.beam, 1, 100, "The width of the beam (1, which is greedy)");
  translating.add_texts("sentences", options.sentences, "SENTENCE", "What to translate");
  program::Command testing = line.add_command("evaluate", "Tests it on pairs that were held out, beside two baselines");
  testing.add_model(options.settings);
  testing.add_other_data(options.settings);
  testing.add_integer("--beam", options.beam, 1, 100, "The width of the beam (1, which is greedy)");
  return line.run(argc, argv, [&] {
    if (translating.is_given())
      for (int k = 2; k < argc; ++k)
        if (const std::string given = argv[k]; given.starts_with('[') && given.ends_with(']') &&
                                               std::string(argv[k - 1]) != "--model")  // which CLI11 takes apart
          throw program::WrongOption(program::shown(given), "a sentence in brackets is only read from standard input");
    if (training.is_given()) train(options);
    if (translating.is_given()) translate(options);
    if (testing.is_given()) evaluate(options);
  });
}
