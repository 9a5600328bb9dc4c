// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <utility>

#include <fcntl.h>

#include <CLI/CLI.hpp>

#include <examples/shared/command_line.hpp>
#include <examples/shared/interruption.hpp>
#include <examples/shared/ranks.hpp>
#include <tlm/parallel/threads.hpp>

namespace program {

Command::Command(std::shared_ptr<CLI::App> app) : app_{std::move(app)} {
  app_->get_help_ptr()->disable_flag_override();  // a flag has no value
}

bool Command::is_given() const { return app_->parsed(); }

void Command::add(const std::string& name, const std::string& kind, const std::string& description,
                  std::function<void(const std::string&)> take) {
  app_->add_option_function<std::string>(name, take, description)->type_name(kind);
}

void Command::add_number(const std::string& name, const std::string& description, double most,
                         std::function<void(double)> take) {
  const bool bounded = most < std::numeric_limits<double>::max();
  const std::string bound = CLI::detail::to_string(most);
  add(name, bounded ? "> 0, <= " + bound : "> 0", description,
      [=, take = std::move(take),
       range = bounded ? "greater than 0 and at most " + bound : "greater than 0"](const std::string& text) {
        double number = 0;
        if (!read_positive(text, number) || number > most)
          throw WrongOption(name, "it must be a finite number " + range + ", not " + shown(text));
        take(number);
      });
}

void Command::add_texts(const std::string& name, std::vector<std::string>& texts, const std::string& kind,
                        const std::string& description) {
  app_->add_option(name, texts, description)->allow_extra_args(!name.starts_with('-'))->type_name(kind);
}

void Command::add_flag(const std::string& name, bool& value, const std::string& description) {
  app_->add_flag(name, value, description)->disable_flag_override();
}

void Command::add_file(const std::string& name, std::string& path, const std::string& description) {
  add(name, "FILE", description, [&path, name](const std::string& given) {
    if (given.empty()) throw WrongOption(name, "it must be a file, not ''");
    path = given;
  });
}

void Command::exclude(const std::string& name, const std::vector<std::string>& others) {
  for (const std::string& other : others) app_->get_option(name)->excludes(app_->get_option(other));
}

void Command::add_threads(std::size_t& threads) {
  add_integer(
      "--threads", threads, 1, 1024,
      with_standard("How many threads share a batch, if it has enough tokens; the bits of the result depend on it",
                    threads));
}

void Command::add_training_options(TrainingOptions& options) {
  add_positive("--learning-rate", options.learning_rate, with_standard("The learning rate", options.learning_rate));
  add_integer("--batch-size", options.batch_size, 1, 10'000,
              with_standard("The number of sequences in a batch", options.batch_size));
  add_threads(options.threads);
  add_integer("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              with_standard("The seed of random numbers: data and initial weights follow from it", options.seed));
  add_flag("--quiet", options.quiet, "Print only the answers to your questions and the success rate");
  app_->footer(
      "On a terminal of 80 columns that is not \"dumb\" (TERM) the progress is one line, rewritten in place;\n"
      "elsewhere, and with NO_COLOR set, it is a line every 500 steps.");
}

void Command::add_ask(std::vector<std::string>& asked, const std::string& description) {
  add_texts("--ask", asked, "\"TOKEN ...\"", description);
}

void Command::add_record(std::string& path) {
  add_file("--record", path, "A file for losses, answers and attention, as JSON, for examples/report.py");
}

void Command::add_model(Settings& settings) {
  add_text("--model", settings.model, "FILE", with_standard("The file of the model", settings.model));
}

void Command::add_seed(Settings& settings) {
  add_integer("--seed", settings.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              with_standard("The seed of random numbers", settings.seed));
}

void Command::add_other_data(Settings& settings) {
  add_flag("--other-data", settings.other_data, "Accept data that have changed since the model learned from them");
}

void Command::add_settings(Settings& settings, const std::string& these, const std::vector<std::string>& others) {
  add_model(settings);
  const auto described = [](const std::string& what, const auto& standard) {
    return standard ? with_standard(what, *standard) : what;
  };
  add_integer("--steps", settings.steps, 1, a_billion, described("The number of steps", settings.steps));
  add_integer("--batch-size", settings.batch_size, 1, 10'000,
              with_standard("The number of " + these + " in a batch", settings.batch_size));
  add_positive("--learning-rate", settings.learning_rate,
               described("The maximum learning rate", settings.learning_rate));
  add_threads(settings.threads);
  add_seed(settings);
  add_record(settings.record);
  add_flag("--resume", settings.resume, "Continue the run in the file, with the settings in the file");
  exclude("--resume", {"--steps", "--batch-size", "--learning-rate", "--seed"});
  exclude("--resume", others);
  add_other_data(settings);
  app_->get_option("--other-data")->needs("--resume");
}

CommandLine::CommandLine(const std::string& name, const std::string& description)
    : Command{std::make_shared<CLI::App>(description, name)} {}

Command CommandLine::add_command(const std::string& name, const std::string& description) {
  app_->require_subcommand(1);
  app_->add_subcommand(name, description);
  return Command{app_->get_subcommand_ptr(name)};
}

namespace {

/// Reads the options. If help was asked for, prints it and returns false.
bool read_options(CLI::App& app, int argc, char** argv) {
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
    throw WrongOption(shown(text),
                      dashed ? "there is no such option; --help lists what there is"
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
    if (option == nullptr) throw WrongOption((name.size() == 1 ? "-" : "--") + name, "it takes no value");
    if (option->count() > 1)
      throw WrongOption(name, "it is given " + std::to_string(option->count()) + " times, but has one value");
    throw WrongOption(name, "its value is missing: " + option->get_type_name());
  }
}

}  // namespace

int CommandLine::run(int argc, char** argv, const std::function<void()>& run) const {
  const auto fail = [this](const std::string& sentence, int code) {
    std::cout.exceptions(std::ios::goodbit);  // std::cerr flushes it first
    const bool together = ranks().all_end(std::chrono::seconds{2});
    if (ranks().is_first() || !together) std::cerr << app_->get_name() << ": " << sentence << '\n';
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
    if (read_options(*app_, argc, argv)) run();
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

}  // namespace program
