// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>

#include <CLI/CLI.hpp>

#include <examples/shared/interruption.hpp>
#include <examples/shared/ranks.hpp>
#include <examples/shared/settings.hpp>
#include <tlm/parallel/threads.hpp>
#include <tlm/storage/atomic_file.hpp>

/// How the example programs behave on the command line, and the options that several of them have.
namespace program {

using tlm::storage::shown;  // of an argument, too

/// Reads the options. If help was asked for, prints it and returns false.
inline bool read_options(CLI::App& app, int argc, char** argv) {
  for (CLI::Option* const option : app.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();  // a flag has no value
  for (CLI::App* const command : app.get_subcommands({}))
    for (CLI::Option* const option : command->get_options())
      if (option->get_items_expected_max() == 0) option->disable_flag_override();
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& help) {
    app.exit(help);
    return false;
  } catch (const CLI::ExtrasError&) {
    const auto extras = app.remaining(true);  // those of its commands, too
    const auto extra = std::find_if(extras.begin(), extras.end(), [](const auto& text) { return text != "--"; });
    const std::string text = extra == extras.end() ? "--" : *extra;
    const bool dashed = text.starts_with('-'), spaced = text.find(' ') != text.npos;
    throw CLI::ValidationError(
        shown(text), dashed ? "there is no such option; --help lists what there is"
                     : spaced
                         ? "nothing is expected here; an option takes one argument, and stands again before the next"
                         : "nothing is expected here; what has spaces is quoted, and --help lists what there is");
  } catch (const CLI::RequiredError&) {  // of a command: no option is
    std::string commands;
    for (const CLI::App* const command : app.get_subcommands({}))
      commands += (commands.empty() ? "" : " or ") + command->get_name();
    const bool named = argc > 1 && argv[1][0] != '-';
    throw std::invalid_argument((named ? "there is no command " + shown(argv[1]) : "a command is missing") +
                                ": it is " + commands + "; --help says what they do");
  } catch (const CLI::ArgumentMismatch& error) {  // it begins with the name of the option, a flag's without its dashes
    const std::string message = error.what(), name = message.substr(0, message.find_first_of(": "));
    const CLI::Option* option = app.get_option_no_throw(name);
    for (const CLI::App* const command : app.get_subcommands())  // the one that was named
      if (option == nullptr) option = command->get_option_no_throw(name);
    if (option == nullptr) throw CLI::ValidationError((name.size() == 1 ? "-" : "--") + name, "it takes no value");
    if (option->count() > 1)
      throw CLI::ValidationError(name, "it is given " + std::to_string(option->count()) + " times, but has one value");
    throw CLI::ValidationError(name, "its value is missing: " + option->get_type_name());
  }
}

/// Thrown at the end of a program that has done only a part of what was asked.
struct Unfinished : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `run` after reading the options. If something goes wrong, the program prints one sentence on standard error,
/// and ends with an exit code. The code is 1 if standard output cannot be written (a full disk, a closed pipe), if there
/// is too little memory, or if a text was left out (Unfinished). It is 2 for all else, such as wrong options, wrong
/// input and files that cannot be written. If Ctrl-C stopped the training, the last line on standard error says so. Then
/// the program dies of SIGINT, so that a shell's loop over it ends too (its `$?` is 130).
///
/// With several ranks, the first one prints, and also prints a sentence with which all of them end. A rank that ends
/// alone prints its own sentence, and ends the others.
template <class Run>
int main(CLI::App& app, int argc, char** argv, const Run& run) {
  const auto fail = [&app](const std::string& sentence, int code) {
    std::cout.exceptions(std::ios::goodbit);  // std::cerr flushes it first
    const bool together = ranks().all_end(std::chrono::seconds{2});
    if (ranks().is_first() || !together) std::cerr << app.get_name() << ": " << sentence << '\n';
    if (!together) ranks().abort(code);
    return code;
  };
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe fails then, as to a full disk
  // What is closed fails, too: its number is taken, so that no file of ours gets it, and what is printed.
  for (const int stream : {0, 1, 2})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  try {
    if (!with_ranks && tlm::started_as_a_rank())
      throw std::runtime_error("it is one of several processes, and was built without MPI for one (libopenmpi-dev)");
    if (!ranks().is_first() && std::freopen("/dev/null", "w", stdout) == nullptr)
      throw std::runtime_error("/dev/null cannot be opened");
    std::cout.exceptions(std::ios::badbit | std::ios::failbit);
    if (read_options(app, argc, argv)) run();
    std::cout.flush();
  } catch (const std::ios::failure&) {
    return fail(std::string("standard output cannot be written: ") + std::strerror(errno), 1);
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory", 1);
  } catch (const Unfinished& left_out) {
    return fail(left_out.what(), 1);
  } catch (const std::exception& error) {
    return fail(error.what(), 2);
  }
  const int signal = Interruption::requested();
  if (signal == 0) return 0;
  fail("interrupted", 128 + signal);
  std::raise(signal);
  return 128 + signal;  // where it is blocked
}

/// An option that is one of a few names.
template <class Value>
void add_choice(CLI::App& app, const std::string& name, Value& value, const std::map<std::string, Value>& choices,
                const std::string& description) {
  std::string listed;
  for (const auto& [choice, meaning] : choices) listed += (listed.empty() ? "" : " or ") + choice;
  app.add_option_function<std::string>(
         name,
         [&value, choices, name, listed](const std::string& text) {
           const auto chosen = choices.find(text);
           if (chosen == choices.end())
             throw CLI::ValidationError(name, "it must be " + listed + ", not " + shown(text));
           value = chosen->second;
         },
         description)
      ->type_name(listed);
}

/// A description, with the default value of the option.
template <class Value>
std::string with_standard(const std::string& description, const Value& standard) {
  return description + " (" + CLI::detail::to_string(standard) + ")";
}

/// An option that is an integer from `first` to `last`, written in decimal.
template <class Value>
void add_integer(CLI::App& app, const std::string& name, Value& value, std::uint64_t first, std::uint64_t last,
                 const std::string& description) {
  const std::string range = spelled(first, last);
  app.add_option_function<std::string>(
         name,
         [&value, name, first, last, range](const std::string& text) {
           if (!read_integer(text, value, first, last))
             throw CLI::ValidationError(name, "it must be an integer from " + range + ", not " + shown(text));
         },
         description)
      ->type_name(range);
}

/// An option that is a finite number greater than 0, and at most `most`.
template <class Value>
void add_positive(CLI::App& app, const std::string& name, Value& value, const std::string& description,
                  double most = std::numeric_limits<double>::max()) {
  std::ostringstream bound;
  bound << "greater than 0";
  if (most < std::numeric_limits<double>::max()) bound << " and at most " << most;
  app.add_option_function<std::string>(
         name,
         [&value, name, most, range = bound.str()](const std::string& text) {
           double number = 0;
           if (!read_positive(text, number) || number > most)
             throw CLI::ValidationError(name, "it must be a finite number " + range + ", not " + shown(text));
           value = number;
         },
         description)
      ->type_name(most < std::numeric_limits<double>::max() ? "> 0, <= " + CLI::detail::to_string(most) : "> 0");
}

/// The option for how many threads share a batch.
inline void add_threads(CLI::App& app, std::size_t& threads) {
  add_integer(
      app, "--threads", threads, 1, 1024,
      with_standard("How many threads share a batch, if it has enough tokens; the bits of the result depend on it",
                    threads));
}

/// The options of the programs whose tasks are drawn.
inline void add_training_options(CLI::App& app, TrainingOptions& options) {
  add_positive(app, "--learning-rate", options.learning_rate,
               with_standard("The learning rate", options.learning_rate));
  add_integer(app, "--batch-size", options.batch_size, 1, 10'000,
              with_standard("The number of sequences in a batch", options.batch_size));
  add_threads(app, options.threads);
  add_integer(app, "--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              with_standard("The seed of random numbers: data and initial weights follow from it", options.seed));
  app.add_flag("--quiet", options.quiet, "Print only the answers to your questions and the success rate");
  app.footer(
      "On a terminal of 80 columns that is not \"dumb\" (TERM) the progress is one line, rewritten in place;\n"
      "elsewhere, and with NO_COLOR set, it is a line every 500 steps.");
}

/// The option of programs that answer the user's questions. It takes a sequence, and may be given several times.
inline void add_ask(CLI::App& app, std::vector<std::string>& asked, const std::string& description) {
  app.add_option("--ask", asked, description)->allow_extra_args(false)->type_name("\"TOKEN ...\"");
}

/// An option that names a file. Without it the path is empty, so an empty one is refused.
inline CLI::Option& add_file(CLI::App& app, const std::string& name, std::string& path,
                             const std::string& description) {
  return *app.add_option(name, path, description)
              ->type_name("FILE")
              ->check([](const std::string& given) { return given.empty() ? "it must be a file, not ''" : ""; }, "");
}

/// The option of programs that keep a record of a run, for pictures (record.hpp, report.py).
inline void add_record(CLI::App& app, std::string& path) {
  add_file(app, "--record", path, "A file for losses, answers and attention, as JSON, for examples/report.py");
}

/// The option for the file in which a model is kept.
inline void add_model(CLI::App& command, Settings& settings) {
  command.add_option("--model", settings.model, with_standard("The file of the model", settings.model))
      ->type_name("FILE");
}

/// The option for the seed of random numbers.
inline void add_seed(CLI::App& command, Settings& settings) {
  add_integer(command, "--seed", settings.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              with_standard("The seed of random numbers", settings.seed));
}

/// The flag of programs that read again what a model has learned from.
inline CLI::Option& add_other_data(CLI::App& command, Settings& settings) {
  return *command.add_flag("--other-data", settings.other_data,
                           "Accept data that have changed since the model learned from them");
}

/// The options of a command that trains on batches of `these`. A resumed run accepts neither the options that are in
/// its file, nor `others`, which are in it too.
inline void add_settings(CLI::App& command, Settings& settings, const std::string& these,
                         const std::vector<std::string>& others) {
  add_model(command, settings);
  const auto described = [](const std::string& what, const auto& standard) {
    return standard ? with_standard(what, *standard) : what;
  };
  add_integer(command, "--steps", settings.steps, 1, a_billion, described("The number of steps", settings.steps));
  add_integer(command, "--batch-size", settings.batch_size, 1, 10'000,
              with_standard("The number of " + these + " in a batch", settings.batch_size));
  add_positive(command, "--learning-rate", settings.learning_rate,
               described("The maximum learning rate", settings.learning_rate));
  add_threads(command, settings.threads);
  add_seed(command, settings);
  add_record(command, settings.record);
  CLI::Option& resume =
      *command.add_flag("--resume", settings.resume, "Continue the run in the file, with the settings in the file");
  std::vector<std::string> kept{"--steps", "--batch-size", "--learning-rate", "--seed"};
  kept.insert(kept.end(), others.begin(), others.end());
  for (const std::string& name : kept) resume.excludes(command.get_option(name));
  add_other_data(command, settings).needs(&resume);
}

}  // namespace program
