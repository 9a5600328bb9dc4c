// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <examples/ranks.hpp>
#include <examples/record.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/training/train.hpp>

/// The manners of the example programs, and what those that train a model have in common.
namespace program {

/// Ctrl-C, while there is one of these, asks to stop, and so does `kill`, by which mpirun passes it on; a second one kills, as
/// usual. Where one of them is ignored it stays so.
class Interruption {
 public:
  Interruption() {
    for (Signal& each : signals_) {
      each.before = std::signal(each.number, [](int number) {
        requested_ = number;
        std::signal(number, SIG_DFL);
      });
      if (each.before == SIG_IGN) std::signal(each.number, SIG_IGN);
    }
  }
  ~Interruption() {
    for (const Signal& each : signals_) std::signal(each.number, each.before);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that asked to stop; 0 if none did.
  static int requested() { return requested_; }

 private:
  struct Signal {
    int number;
    void (*before)(int) = SIG_DFL;
  };
  static inline volatile std::sig_atomic_t requested_ = 0;
  Signal signals_[2] = {{SIGINT}, {SIGTERM}};
};

/// Whether any process of this run was asked to stop: the same answer on all of them, once a step.
inline bool asked_to_stop() { return ranks().any(Interruption::requested() != 0); }

using tlm::storage::shown;  // of an argument, too

/// Reads the options. False if help was asked for, which is printed then.
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
    const bool dashed = extra->starts_with('-'), spaced = extra->find(' ') != extra->npos;
    throw CLI::ValidationError(
        shown(*extra), dashed ? "there is no such option; --help lists what there is"
                       : spaced
                           ? "nothing is expected here; an option takes one argument, and stands again before the next"
                           : "nothing is expected here; what has spaces is quoted, and --help lists what there is");
  } catch (const CLI::RequiredError&) {  // of a command: no option is
    std::string commands;
    for (const CLI::App* const command : app.get_subcommands({}))
      commands += (commands.empty() ? "" : " or ") + command->get_name();
    const bool named = argc > 1 && argv[1][0] != '-';
    throw std::invalid_argument((named ? std::string("there is no command ") + argv[1] : "a command is missing") +
                                ": it is " + commands + "; --help says what they do");
  } catch (const CLI::ArgumentMismatch& error) {  // it begins with the name of the option, a flag's without its dashes
    const std::string message = error.what(), name = message.substr(0, message.find_first_of(": "));
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) throw CLI::ValidationError((name.size() == 1 ? "-" : "--") + name, "it takes no value");
    if (option->count() > 1)
      throw CLI::ValidationError(name, "it is given " + std::to_string(option->count()) + " times, but has one value");
    throw CLI::ValidationError(name, "its value is missing: " + option->get_type_name());
  }
}

/// Runs `run` after reading the options. What ends the program otherwise is one sentence on standard error, and an exit
/// code: 2 for wrong options and wrong input, 1 if standard output cannot be written (a full disk, a closed pipe) or
/// there is too little memory. If Ctrl-C stopped the training, the last line, on standard error, says so and the program
/// dies of SIGINT, so that a shell's loop over it ends too (130 is its `$?`).
///
/// Of several ranks the first one prints, also the sentence that all of them end with. One that ends alone prints its own,
/// and ends the others.
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

/// A description with the value that an option has if it is not given.
template <class Value>
std::string with_standard(const std::string& description, const Value& standard) {
  return description + " (" + CLI::detail::to_string(standard) + ")";
}

/// As in "2 to 4", or "2".
inline std::string spelled(std::uint64_t first, std::uint64_t last) {
  return std::to_string(first) + (first == last ? "" : " to " + std::to_string(last));
}

/// Whether a text is an integer from `first` to `last`, written in decimal, which `value` then is.
template <class Value>
bool read_integer(std::string_view text, Value& value, std::uint64_t first, std::uint64_t last) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < first || number > last) return false;
  value = Value(number);
  return true;
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

/// Whether a text is a finite number greater than 0, which `value` then is.
inline bool read_positive(const std::string& text, double& value) {
  std::istringstream in{text};
  return in >> value && in.eof() && std::isfinite(value) && value > 0;
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

/// How many threads this process may run at once: mpirun shares the processors of a machine among its ranks.
inline std::size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max<std::size_t>(1, std::size_t(CPU_COUNT(&set))) : 1;
}

/// The option of how many threads share a batch.
inline void add_threads(CLI::App& app, std::size_t& threads) {
  add_integer(app, "--threads", threads, 1, 1024,
              with_standard("How many threads share a batch, if it has enough tokens; the bits depend on it", threads));
}

/// The most steps that a program takes.
inline constexpr std::uint64_t a_billion = 1'000'000'000;

/// What the programs whose tasks are drawn are told of the training.
struct TrainingOptions {
  double learning_rate = 0.001;
  std::size_t batch_size, threads = processors();
  std::uint64_t seed = 1;
  bool quiet = false;
};

/// Their options.
inline void add_training_options(CLI::App& app, TrainingOptions& options) {
  add_positive(app, "--learning-rate", options.learning_rate,
               with_standard("The learning rate", options.learning_rate));
  add_integer(app, "--batch-size", options.batch_size, 1, 10'000,
              with_standard("The number of sequences in a batch", options.batch_size));
  add_threads(app, options.threads);
  add_integer(app, "--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              with_standard("Where random numbers start: data and initial weights follow from it", options.seed));
  app.add_flag("--quiet", options.quiet, "Print only the answers to what was asked and the success rate");
  app.footer(
      "On a terminal of 80 columns that is not \"dumb\" (TERM) the progress is one line, rewritten in place;\n"
      "elsewhere, and with NO_COLOR set, it is a line every 500 steps.");
}

/// The option of those that answer questions of the user's own: a sequence, and as often as it is given.
inline void add_ask(CLI::App& app, std::vector<std::string>& asked, const std::string& description) {
  app.add_option("--ask", asked, description)->allow_extra_args(false)->type_name("\"TOKEN ...\"");
}

/// The option of those that keep what a run was like, for pictures (record.hpp, report.py).
inline void add_record(CLI::App& app, std::string& path) {
  app.add_option("--record", path, "A file for losses, answers and attention, as JSON, for examples/report.py")
      ->type_name("FILE");
}

/// What is asked, as sequences of `shortest` to `longest` tokens from `first` to `last`, each as in "3 7".
inline std::vector<std::vector<tlm::Token>> questions(const std::vector<std::string>& asked, std::uint64_t first,
                                                      std::uint64_t last, std::uint64_t shortest,
                                                      std::uint64_t longest) {
  std::vector<std::vector<tlm::Token>> questions;
  for (const std::string& text : asked) {
    auto& tokens = questions.emplace_back();
    std::istringstream words{text};
    for (std::string word; words >> word;)
      if (!read_integer(word, tokens.emplace_back(), first, last))
        throw CLI::ValidationError("--ask",
                                   "a token must be an integer from " + spelled(first, last) + ", not " + word);
    if (tokens.size() < shortest || tokens.size() > longest)
      throw CLI::ValidationError("--ask", "a sequence must have " + spelled(shortest, longest) + " tokens, not " +
                                              std::to_string(tokens.size()));
  }
  return questions;
}

/// The width of the terminal: COLUMNS, or what the terminal says, or 80.
inline std::size_t columns() {
  std::size_t width = 0;
  if (const char* const given = std::getenv("COLUMNS")) std::from_chars(given, given + std::strlen(given), width);
  winsize size{};
  if (width == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? 80 : width;
}

/// Whether standard output is a terminal on which a line may be rewritten in place: one of at least 80 columns that is not
/// "dumb", and of whose user NO_COLOR does not want it plain. (A rank writes into a terminal of mpirun's own making.)
inline bool can_rewrite() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  return !tlm::started_as_a_rank() && isatty(STDOUT_FILENO) != 0 && variable("TERM") != "" &&
         variable("TERM") != "dumb" && variable("NO_COLOR") == "" && columns() >= 80;
}

/// Reports the progress of training: on a terminal one line that is rewritten in place, otherwise plain lines, one every
/// 500 steps. Where Ctrl-C ends it, a line says that what follows is of a model that was to learn on.
class ProgressReport {
 public:
  /// The record is told every loss.
  ProgressReport(std::size_t steps, bool quiet, Record& record)
      : steps_{steps}, quiet_{quiet}, live_{can_rewrite()}, record_{record}, start_{Clock::now()}, shown_{start_} {}

  tlm::Continue operator()(const tlm::Progress& progress) {
    sum_of_losses_ += progress.loss;
    record_.loss(progress.loss);
    ++losses_;
    const bool stops = asked_to_stop(), last = progress.step == steps_ || stops;
    const bool due = live_ ? Clock::now() - shown_ > std::chrono::milliseconds{100} : progress.step % 500 == 0;
    if (!quiet_ && (last || due)) show(progress.step, last);
    if (!stops) return tlm::Continue::yes;
    std::cout << "interrupted at step " << progress.step << " of " << steps_
              << ": what follows is of the model as it was then\n";
    return tlm::Continue::no;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::size_t step, bool last) {
    shown_ = Clock::now();
    const double seconds = std::chrono::duration<double>(shown_ - start_).count();
    const double speed = double(step) / seconds;
    std::ostringstream line;
    line << "step " << std::setw(int(std::to_string(steps_).size())) << step << " of " << steps_ << std::fixed
         << std::setprecision(4) << "   average loss " << sum_of_losses_ / double(losses_) << std::setprecision(0)
         << "   " << speed << " steps/s   " << std::setprecision(1) << double(steps_ - step) / speed << " s left";
    if (live_)
      std::cout << '\r' << line.str().substr(0, columns() - 1) << "\x1b[K" << (last ? "\n" : "") << std::flush;
    else
      std::cout << line.str() << '\n' << std::flush;
    if (!live_ || losses_ >= 500) sum_of_losses_ = 0, losses_ = 0;
  }

  std::size_t steps_;
  bool quiet_, live_;
  Record& record_;
  Interruption interruption_;
  Clock::time_point start_, shown_;
  double sum_of_losses_ = 0;
  std::size_t losses_ = 0;
};

/// As in "1 2 0 2 1 0".
inline std::string spelled(const std::vector<tlm::Token>& tokens) {
  std::string text;
  for (const tlm::Token token : tokens) text += (text.empty() ? "" : " ") + std::to_string(token);
  return text;
}

/// What a model made of a question, and what it should have made.
struct Answer {
  std::vector<tlm::Token> question, answer, expected;
  bool right() const { return answer == expected; }
};

/// The answers to what the user asked.
inline void print_asked(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers)
    std::cout << "asked: " << spelled(answer.question) << "  →  " << spelled(answer.answer)
              << (answer.right() ? "" : "   should be: " + spelled(answer.expected)) << '\n';
}

/// Keeps the answers to a test.
inline void record_answers(Record& record, const std::vector<Answer>& answers) {
  for (const Answer& answer : answers)
    record.answer(spelled(answer.question), spelled(answer.answer), spelled(answer.expected));
}

/// Tokens as labels.
inline std::vector<std::string> labels(const std::vector<tlm::Token>& tokens) {
  std::vector<std::string> labels;
  for (const tlm::Token token : tokens) labels.push_back(std::to_string(token));
  return labels;
}

/// A handful of answers to a test, wrong ones first, and the success rate as the last line.
inline void print_answers(std::vector<Answer> answers, bool quiet) {
  constexpr std::size_t handful = 6;
  const auto first_right =
      std::stable_partition(answers.begin(), answers.end(), [](const Answer& answer) { return !answer.right(); });
  const auto wrong = std::size_t(first_right - answers.begin()), right = answers.size() - wrong;
  if (!quiet) {
    for (std::size_t a = 0; a < std::min(handful, wrong); ++a)
      std::cout << "wrong: " << spelled(answers[a].question) << "  →  " << spelled(answers[a].answer)
                << "   should be: " << spelled(answers[a].expected) << '\n';
    const std::size_t shown = std::min(handful - std::min(handful, wrong), right);
    for (std::size_t a = 0; a < shown; ++a) {  // evenly over all of them
      const Answer& answer = answers[wrong + (2 * a + 1) * right / (2 * shown)];
      std::cout << "right: " << spelled(answer.question) << "  →  " << spelled(answer.answer) << '\n';
    }
  }
  std::cout << "success rate: " << std::fixed << std::setprecision(1) << 100.0 * double(right) / double(answers.size())
            << " % (" << right << " of " << answers.size() << ")\n";
}

}  // namespace program
