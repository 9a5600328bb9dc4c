// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tlm/matrix/matrix.hpp>
#include <tlm/training/train.hpp>

/// What the example programs that train a model have in common.
namespace program {

/// Runs `run` after reading the options. Wrong options and wrong input end the program with one sentence and exit
/// code 2.
template <class Run>
int main(CLI::App& app, int argc, char** argv, const Run& run) {
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 2;
  }
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
           if (chosen == choices.end()) throw CLI::ValidationError(name, "it must be " + listed + ", not " + text);
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

/// An option that is an integer from `first` to `last`, written in decimal.
template <class Value>
void add_integer(CLI::App& app, const std::string& name, Value& value, std::uint64_t first, std::uint64_t last,
                 const std::string& description) {
  const std::string range = std::to_string(first) + " to " + std::to_string(last);
  app.add_option_function<std::string>(
         name,
         [&value, name, first, last, range](const std::string& text) {
           std::uint64_t number = 0;
           const char* const end = text.data() + text.size();
           const auto [stop, error] = std::from_chars(text.data(), end, number);
           if (error != std::errc{} || stop != end || number < first || number > last)
             throw CLI::ValidationError(name, "it must be an integer from " + range + ", not " + text);
           value = Value(number);
         },
         description)
      ->type_name(range);
}

/// An option that is a finite number greater than 0.
inline void add_positive(CLI::App& app, const std::string& name, double& value, const std::string& description) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           std::istringstream in{text};
           if (!(in >> value && in.eof() && std::isfinite(value) && value > 0))
             throw CLI::ValidationError(name, "it must be a finite number greater than 0, not " + text);
         },
         description)
      ->type_name("> 0");
}

/// The most steps that a program takes.
inline constexpr std::uint64_t a_billion = 1'000'000'000;

/// The options of every program that trains.
inline void add_training_options(CLI::App& app, double& learning_rate, std::size_t& batch_size, std::uint64_t& seed,
                                 bool& quiet) {
  add_positive(app, "--learning-rate", learning_rate, with_standard("The learning rate", learning_rate));
  add_integer(app, "--batch-size", batch_size, 1, 100'000,
              with_standard("The number of sequences in a batch", batch_size));
  add_integer(app, "--seed", seed, 0, std::numeric_limits<std::uint64_t>::max(),
              with_standard("Where random numbers start: data and initial weights follow from it", seed));
  app.add_flag("--quiet", quiet, "Print the success rate only");
}

/// Ctrl-C asks to stop; a second one kills, as usual.
class Interruption {
 public:
  Interruption() {
    std::signal(SIGINT, [](int) {
      requested_ = 1;
      std::signal(SIGINT, SIG_DFL);
    });
  }
  bool requested() const { return requested_ != 0; }

 private:
  static inline volatile std::sig_atomic_t requested_ = 0;
};

/// Reports the progress of training: on a terminal one line that is rewritten in place, otherwise a line every 500
/// steps.
class ProgressReport {
 public:
  ProgressReport(std::size_t steps, bool quiet)
      : steps_{steps}, quiet_{quiet}, live_{isatty(STDOUT_FILENO) != 0}, start_{Clock::now()}, shown_{start_} {}

  tlm::Continue operator()(const tlm::Progress& progress) {
    sum_of_losses_ += progress.loss;
    ++losses_;
    const bool last = progress.step == steps_ || interruption_.requested();
    const bool due = live_ ? Clock::now() - shown_ > std::chrono::milliseconds{100} : progress.step % 500 == 0;
    if (!quiet_ && (last || due)) show(progress.step, last);
    return interruption_.requested() ? tlm::Continue::no : tlm::Continue::yes;
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
      std::cout << '\r' << line.str() << "\x1b[K" << (last ? "\n" : "") << std::flush;
    else
      std::cout << line.str() << '\n' << std::flush;
    if (!live_ || losses_ >= 500) sum_of_losses_ = 0, losses_ = 0;
  }

  std::size_t steps_;
  bool quiet_, live_;
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

/// A handful of answers, wrong ones first, and the success rate as the last line.
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
