// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <examples/shared/settings.hpp>
#include <tlm/storage/atomic_file.hpp>

namespace CLI {
class App;
}

/// How the example programs behave on the command line, and the options that several of them have.
namespace program {

using tlm::storage::shown;  // of an argument, too

/// An option that is given wrongly: its name, and what is wrong with it.
struct WrongOption : std::invalid_argument {
  WrongOption(const std::string& name, const std::string& sentence) : invalid_argument(name + ": " + sentence) {}
};

/// Thrown at the end of a program that has done only a part of what was asked.
struct Unfinished : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A description, with the default value of the option.
template <class Value>
std::string with_standard(const std::string& description, const Value& standard) {
  std::ostringstream text;
  text << description << " (" << standard << ")";
  return text.str();
}

/// A command of a program, or the program itself: what can be given to it. A name without dashes is that of an argument
/// by its place.
class Command {
 public:
  /// What CLI11 knows of it.
  explicit Command(std::shared_ptr<CLI::App> app);

  /// Whether it is the command that was given.
  bool is_given() const;

  /// An option that is one of a few names.
  template <class Value>
  void add_choice(const std::string& name, Value& value, const std::map<std::string, Value>& choices,
                  const std::string& description) {
    std::string listed;
    for (const auto& [choice, meaning] : choices) listed += (listed.empty() ? "" : " or ") + choice;
    add(name, listed, description, [&value, choices, name, listed](const std::string& text) {
      const auto chosen = choices.find(text);
      if (chosen == choices.end()) throw WrongOption(name, "it must be " + listed + ", not " + shown(text));
      value = chosen->second;
    });
  }

  /// An option that is an integer from `first` to `last`, written in decimal.
  template <class Value>
  void add_integer(const std::string& name, Value& value, std::uint64_t first, std::uint64_t last,
                   const std::string& description) {
    const std::string range = spelled(first, last);
    add(name, range, description, [&value, name, first, last, range](const std::string& text) {
      if (!read_integer(text, value, first, last))
        throw WrongOption(name, "it must be an integer from " + range + ", not " + shown(text));
    });
  }

  /// An option that is a finite number greater than 0, and at most `most`.
  template <class Value>
  void add_positive(const std::string& name, Value& value, const std::string& description,
                    double most = std::numeric_limits<double>::max()) {
    add_number(name, description, most, [&value](double number) { value = number; });
  }

  /// An option that is any text, of the kind that help names.
  template <class Value>
  void add_text(const std::string& name, Value& value, const std::string& kind, const std::string& description) {
    add(name, kind, description, [&value](const std::string& text) { value = text; });
  }

  /// Several texts. An option takes one of them, and may be given several times.
  void add_texts(const std::string& name, std::vector<std::string>& texts, const std::string& kind,
                 const std::string& description);

  /// A flag, which takes no value.
  void add_flag(const std::string& name, bool& value, const std::string& description);

  /// An option that names a file. Without it the path is empty, so an empty one is refused.
  void add_file(const std::string& name, std::string& path, const std::string& description);

  /// The option is not given together with any of these, which were added before.
  void exclude(const std::string& name, const std::vector<std::string>& others);

  /// The options of the programs whose tasks are drawn.
  void add_training_options(TrainingOptions& options);

  /// The option of programs that answer the user's questions. It takes a sequence, and may be given several times.
  void add_ask(std::vector<std::string>& asked, const std::string& description);

  /// The option of programs that keep a record of a run, for pictures (record.hpp, report.py).
  void add_record(std::string& path);

  /// The option for the file in which a model is kept.
  void add_model(Settings& settings);

  /// The option for the seed of random numbers.
  void add_seed(Settings& settings);

  /// The flag of programs that read again what a model has learned from.
  void add_other_data(Settings& settings);

  /// The options of a command that trains on batches of `these`. A resumed run accepts neither the options that are in
  /// its file, nor `others`, which are in it too.
  void add_settings(Settings& settings, const std::string& these, const std::vector<std::string>& others);

 protected:
  std::shared_ptr<CLI::App> app_;

 private:
  void add(const std::string& name, const std::string& kind, const std::string& description,
           std::function<void(const std::string&)> take);
  void add_number(const std::string& name, const std::string& description, double most,
                  std::function<void(double)> take);
  void add_threads(std::size_t& threads);
};

/// The command line of a program.
class CommandLine : public Command {
 public:
  CommandLine(const std::string& name, const std::string& description);

  /// Adds a command. Of a program that has commands one must be given.
  Command add_command(const std::string& name, const std::string& description);

  /// Runs `run` after reading the options. If something goes wrong, the program prints one sentence on standard error,
  /// and ends with an exit code. The code is 1 if standard output cannot be written (a full disk, a closed pipe), if there
  /// is too little memory, or if a text was left out (Unfinished). It is 2 for all else, such as wrong options, wrong
  /// input and files that cannot be written. If Ctrl-C stopped the training, the last line on standard error says so. Then
  /// the program dies of SIGINT, so that a shell's loop over it ends too (its `$?` is 130).
  ///
  /// With several ranks, the first one prints, and also prints a sentence with which all of them end. A rank that ends
  /// alone prints its own sentence, and ends the others.
  int run(int argc, char** argv, const std::function<void()>& run) const;
};

}  // namespace program
