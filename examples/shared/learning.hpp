// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <ios>
#include <iostream>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <examples/shared/interruption.hpp>
#include <examples/shared/lock.hpp>
#include <examples/shared/ranks.hpp>
#include <examples/shared/record.hpp>
#include <examples/shared/settings.hpp>
#include <examples/shared/utf8.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/parallel/threads.hpp>
#include <tlm/storage/checkpoint.hpp>
#include <tlm/text/utf8.hpp>
#include <tlm/training/batch.hpp>
#include <tlm/training/initialization.hpp>
#include <tlm/training/noisy.hpp>
#include <tlm/training/schedules.hpp>
#include <tlm/training/train.hpp>

/// What the programs that learn from text have in common. Their runs may take minutes, so a run is kept in a file. It
/// is evaluated now and then, and can be stopped by Ctrl-C and resumed.
namespace program {

/// What identifies some bytes, as written in a file: their number and their hash (tlm::mixed).
inline tlm::storage::Metadata identity_of(std::string_view bytes) {
  std::ostringstream hash;
  hash << std::hex << std::setfill('0') << std::setw(16) << tlm::mixed(0, std::as_bytes(std::span{bytes}));
  return {{"data_bytes", std::to_string(bytes.size())}, {"data_hash", hash.str()}};
}

/// What a model learns from: its name in messages, and what identifies it, if anything does.
struct Data {
  std::string name;
  tlm::storage::Metadata identity;
};

/// A file that one of these programs has written.
class ModelFile : public tlm::storage::SafetensorsFile {
 public:
  /// Throws like SafetensorsFile, and for a file that is not this program's.
  ModelFile(const std::string& path, const std::string& program) : SafetensorsFile{path} {
    require_metadata({{"program", program}});
  }

  /// An integer of this name in the file. Throws std::runtime_error if it is not an integer from `first` to `last`.
  std::uint64_t integer(const std::string& key, std::uint64_t first, std::uint64_t last) const {
    std::uint64_t value = 0;
    if (!read_integer(text(key), value, first, last)) refuse_setting(key, "an integer from " + spelled(first, last));
    return value;
  }

  /// The settings of its run, in the place of those given. Throws std::runtime_error if the file has other values than
  /// a program writes.
  void settle(Settings& settings) const {
    settings.steps = integer("steps", 1, a_billion);
    settings.batch_size = integer("batch_size", 1, 10'000);
    settings.seed = integer("seed", 0, std::numeric_limits<std::uint64_t>::max());
    double rate = 0;
    if (!read_positive(text("learning_rate"), rate)) refuse_setting("learning_rate", "a finite number greater than 0");
    settings.learning_rate = rate;
  }

  /// Throws std::runtime_error if the model learned from other data than these, unless other data are allowed. A file
  /// that does not name its data is accepted.
  void require_data(const Data& data, bool others_are_taken) const {
    const auto described = [](const tlm::storage::Metadata& identity) {
      return identity.at("data_bytes") + " bytes with the hash " + identity.at("data_hash");
    };
    const auto& said = metadata();
    if (others_are_taken || data.identity.empty() || !said.contains("data_bytes") || !said.contains("data_hash"))
      return;
    if (const auto now = described(data.identity), then = described(said); now != then)
      refuse("it has learned from other data than " + data.name + " has now, " + then + " and not " + now +
             "; --other-data takes these");
  }

 private:
  [[noreturn]] void refuse_setting(const std::string& key, const std::string& what) const {
    refuse("its " + tlm::in_quotes(key) + " is " + tlm::in_quotes(text(key)) + ", and should be " + what);
  }
};

/// A file, and its name in messages, such as "the text".
struct NamedFile {
  std::string name, path;
};

/// Whether two paths lead to the same file, which need not exist yet.
inline bool is_one_file(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(tlm::storage::target_of(path)));
  };
  if (a.empty() || b.empty()) return false;
  std::error_code error;
  return place(a) == place(b) || std::filesystem::equivalent(a, b, error);
}

/// The files of a run that trains. Until the run ends, no other run may train into the same file.
class RunFiles {
 public:
  /// The files of the settings, and those that it reads besides. Throws std::invalid_argument if two of these files are
  /// the same and one would be written, or if a new run would begin where a model is. Throws std::system_error if the
  /// model cannot be locked.
  RunFiles(const Settings& settings, std::vector<NamedFile> others) {
    others.push_back({"--model", settings.model});
    if (!settings.record.empty()) others.push_back({"--record", settings.record});
    require_different("--model", settings.model, {".part", ".lock"}, others);
    if (!settings.record.empty()) require_different("--record", settings.record, {".part"}, others);
    if (ranks().is_first()) lock_.emplace(settings.model);
    if (!settings.resume && std::filesystem::exists(settings.model))
      throw std::invalid_argument(settings.model +
                                  " is there already: --resume goes on with it, --model names another file");
  }

 private:
  /// A file is written under its own name, and under the name to which it leads followed by each of these.
  static void require_different(const std::string& writer, const std::string& path,
                                const std::vector<std::string>& behind, const std::vector<NamedFile>& others) {
    std::vector<std::string> written{path};
    for (const std::string& end : behind) written.push_back(tlm::storage::target_of(path).string() + end);
    for (const std::string& one : written)
      for (const NamedFile& other : others)
        if (other.name != writer && is_one_file(one, other.path))
          throw std::invalid_argument(writer + " writes " + one + ", which is " + other.name);
  }

  std::optional<Lock> lock_;
};

/// How a model learns, where programs differ.
struct Recipe {
  double weight_decay;
  std::uint64_t warm_up;   ///< Steps until the learning rate is at its maximum.
  std::uint64_t patience;  ///< Training ends after this many evaluations without a better one.
  std::uint64_t every;     ///< Steps between two evaluations.
};

/// A run of training, with everything that is in its file. It uses Adam. The learning rate rises linearly and then
/// falls by a cosine. Gradients are clipped to norm 1. If the model has Dropout, there is noise.
template <class Model>
struct Learning {
  using Optimizer = tlm::Clipped<tlm::Scheduled<tlm::Adam<Model>, tlm::Cosine>>;

  Settings settings;
  Recipe recipe;
  tlm::storage::Metadata configuration;
  tlm::TrainingRun<Model, Optimizer> run;

  /// A new run, with new_tokenizer(), or, if it is resumed, the run in the file. `facts` is what the file has beside
  /// the settings and the data.
  ///
  /// Throws what load_run throws, and std::invalid_argument for a learning rate that is no float.
  template <class NewTokenizer>
  Learning(const Settings& told, const Recipe& by, const tlm::storage::Metadata& facts, const Data& data,
           const NewTokenizer& new_tokenizer)
      : settings{told},
        recipe{by},
        configuration{facts},
        run{.optimizer = {{{.beta_2 = 0.98, .weight_decay = by.weight_decay},
                           {.maximum = told.learning_rate.value(),
                            .minimum = *told.learning_rate / 1000,
                            .warm_up = by.warm_up,
                            .steps = told.steps.value()}},
                          1.0},
            .patience = {.evaluations = by.patience},
            .generator = tlm::Generator{told.seed}} {
    std::string rate(32, '\0');
    rate.erase(
        std::size_t(std::to_chars(rate.data(), rate.data() + rate.size(), *told.learning_rate).ptr - rate.data()));
    if (!(float(*told.learning_rate / 1000) > 0) || !std::isfinite(float(*told.learning_rate)))
      throw std::invalid_argument("--learning-rate is " + rate + ": a float cannot hold it and a thousandth of it");
    configuration["steps"] = std::to_string(*told.steps);
    configuration["batch_size"] = std::to_string(told.batch_size);
    configuration["seed"] = std::to_string(told.seed);
    configuration["learning_rate"] = rate;
    if (told.resume) {
      ModelFile{told.model, facts.at("program")}.require_data(data, told.other_data);
      tlm::storage::load_run(told.model, run, configuration);
    } else {
      run.tokenizer = new_tokenizer();
      tlm::initialize_glorot(run.model, run.generator);
    }
    configuration.insert(data.identity.begin(), data.identity.end());
  }

  void save(tlm::storage::Existing existing) const {
    tlm::storage::save_run(settings.model, run, configuration, existing);
  }

  /// Such as "in 100 steps with batches of 16, learning rate 0.002, seed 1".
  std::string described() const {
    const auto& said = configuration;
    return "in " + said.at("steps") + " steps with batches of " + said.at("batch_size") + ", learning rate " +
           said.at("learning_rate") + ", seed " + said.at("seed");
  }
};

/// Such as "2 min 5 s".
inline std::string duration(double seconds) {
  const auto whole = std::uint64_t(seconds + 0.5);
  return (whole < 60 ? "" : std::to_string(whole / 60) + " min ") + std::to_string(whole % 60) + " s";
}

/// make(k) for k = 0, 1, …, count − 1, on this many threads. Throws what one of these calls throws.
template <class Make>
auto on_threads(std::size_t threads, std::size_t count, const Make& make) {
  const tlm::OneThreadPerProduct on_each;
  std::vector<decltype(make(count))> made(count);
  std::atomic<std::size_t> next = 0;
  tlm::parallel_for(threads, [&](std::size_t) {
    for (std::size_t k; (k = next++) < count;) made[k] = make(k);
  });
  return made;
}

/// Tokens as labels: their texts, without the white space around them. The start token, the end token and mere white
/// space are written as a sign.
template <class Tokenizer>
std::vector<std::string> labels(const std::vector<tlm::Token>& tokens, const Tokenizer& tokenizer) {
  constexpr std::string_view space = " \t\n\v\f\r";
  std::vector<std::string> labels;
  for (const tlm::Token token : tokens) {
    const std::string_view text = tokenizer.bytes(token);
    const std::size_t first = text.find_first_not_of(space);
    if (token == Tokenizer::start || token == Tokenizer::end)
      labels.push_back(token == Tokenizer::start ? "⟨start⟩" : "⟨end⟩");
    else if (first == text.npos)
      labels.push_back("␣");
    else
      labels.push_back(as_utf8(text.substr(first, text.find_last_not_of(space) + 1 - first)));
  }
  return labels;
}

/// Trains until the steps are done, the patience ends, or Ctrl-C.
///
///   next_batch() → what the model learns from;
///   evaluate()   → the loss on held-out data, and what to print below the line of progress;
///   keep(record, model) tells a record what the model answers, and its attention; of the model that load_best reads.
///
/// The run is saved every minute, and at the end. A new run is also saved before it begins, so a file that cannot be
/// written is noticed before anything is learned. It is saved, too, if its line cannot be printed. If a record is wanted,
/// it is written last; that of a resumed run is another file. With several ranks, the first one evaluates, prints and saves.
template <class Model, class NextBatch, class Evaluate, class Keep>
void learn(Learning<Model>& learning, const NextBatch& next_batch, const Evaluate& evaluate, const Keep& keep) {
  using Clock = std::chrono::steady_clock;
  const Interruption interruption;
  const Settings& settings = learning.settings;
  const std::uint64_t steps = settings.steps.value();
  auto& run = learning.run;
  const auto start = Clock::now();
  auto saved = start;
  const std::uint64_t first = run.step;
  double sum = 0;
  std::uint64_t losses = 0, tokens = 0;
  bool stopped = false, patient = run.patience.since < run.patience.evaluations;
  if (!patient) throw std::invalid_argument("there is nothing to resume: the training ended when its patience did");
  if (run.step >= steps)
    throw std::invalid_argument("there is nothing to resume: all " + std::to_string(steps) + " steps were done");
  Record record{settings.record, std::size_t(steps - first),
                settings.resume ? tlm::storage::Existing::refused : tlm::storage::Existing::replaced};
  const auto save = [&learning](tlm::storage::Existing existing = tlm::storage::Existing::replaced) {
    if (ranks().is_first()) learning.save(existing);
  };
  ranks().any(false);  // all ranks have seen that there is no file yet
  if (!settings.resume) save(tlm::storage::Existing::refused);
  Workers<Model> workers{settings.threads};
  const auto next = [&] {
    auto batch = next_batch();
    tokens += batch.token_count();
    return tlm::SharedBatch{workers, tlm::Noisy{std::move(batch), tlm::Noise{run.model, settings.seed, run.step}}};
  };
  tlm::train(run.model, run.optimizer, next, std::size_t(steps - first), [&](const tlm::Progress& progress) {
    ++run.step;
    sum += progress.loss;
    record.loss(progress.loss);
    ++losses;
    if (run.step % learning.recipe.every == 0 || run.step == steps) {
      auto [loss, more] = ranks().is_first() ? evaluate() : decltype(evaluate()){};
      loss = ranks().of_first(loss);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      std::ostringstream line;
      line << "step " << run.step << " of " << steps << std::fixed << std::setprecision(4) << "   loss "
           << sum / double(losses) << ", held out " << loss << std::setprecision(0) << "   " << double(tokens) / seconds
           << " tokens/s   " << duration(double(steps - run.step) * seconds / double(run.step - first)) << " left";
      sum = 0, losses = 0;
      patient = run.patience(run.model, loss) == tlm::Continue::yes;
      try {
        std::cout << line.str() << '\n' << more << std::flush;
      } catch (const std::ios::failure&) {
        const int why = errno;  // which saving may change
        save();
        errno = why;
        throw;
      }
    }
    if (Clock::now() - saved > std::chrono::minutes{1}) {
      save();
      saved = Clock::now();
    }
    stopped = asked_to_stop();
    return patient && !stopped ? tlm::Continue::yes : tlm::Continue::no;
  });
  save();
  std::cout << "saved in " << settings.model << " after "
            << duration(std::chrono::duration<double>(Clock::now() - start).count())
            << (!patient ? ": the loss on held-out data no longer falls; the weights with the smallest loss are kept"
                : stopped && run.step < steps ? ": --resume goes on from here"
                                              : "")
            << std::endl;
  if (!record.wanted()) return;
  for (const auto& [name, value] : learning.configuration) record.say(name, value);
  record.say("first_step", first + 1);
  record.say("last_step", run.step);
  keep(record, std::isfinite(run.patience.least) ? run.patience.best : run.model);
  record.write();
}

}  // namespace program
