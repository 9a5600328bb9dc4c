// SPDX-License-Identifier: MIT
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <examples/shared/interruption.hpp>
#include <examples/shared/record.hpp>
#include <examples/shared/settings.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/parallel/threads.hpp>
#include <tlm/training/train.hpp>

/// What the programs with random tasks have in common: questions, progress and answers.
namespace program {

/// The user's questions, each such as "3 7". A question has `shortest` to `longest` tokens from `first` to `last`.
/// Throws std::invalid_argument for others.
inline std::vector<std::vector<tlm::Token>> questions(const std::vector<std::string>& asked, std::uint64_t first,
                                                      std::uint64_t last, std::uint64_t shortest,
                                                      std::uint64_t longest) {
  std::vector<std::vector<tlm::Token>> questions;
  for (const std::string& text : asked) {
    auto& tokens = questions.emplace_back();
    std::istringstream words{text};
    for (std::string word; words >> word;)
      if (!read_integer(word, tokens.emplace_back(), first, last))
        throw std::invalid_argument("--ask: a token must be an integer from " + spelled(first, last) + ", not " + word);
    if (tokens.size() < shortest || tokens.size() > longest)
      throw std::invalid_argument("--ask: a sequence must have " + spelled(shortest, longest) + " tokens, not " +
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

/// Whether standard output is a terminal on which a line may be rewritten in place. It must have at least 80 columns,
/// and not be "dumb", and NO_COLOR must not be set. (A rank writes into a terminal that mpirun makes.)
inline bool can_rewrite() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  return !tlm::started_as_a_rank() && isatty(STDOUT_FILENO) != 0 && variable("TERM") != "" &&
         variable("TERM") != "dumb" && variable("NO_COLOR") == "" && columns() >= 80;
}

/// Reports the progress of training: on a terminal one line that is rewritten in place, otherwise plain lines, one
/// every 500 steps. If Ctrl-C ends the training, a line says that what follows is from a model that has not finished
/// learning. If it is to be quiet, it prints nothing.
class ProgressReport {
 public:
  /// The record receives every loss.
  ProgressReport(std::size_t steps, bool quiet, Record& record)
      : steps_{steps}, quiet_{quiet}, live_{can_rewrite()}, record_{record}, start_{Clock::now()}, shown_{start_} {}

  ProgressReport(ProgressReport&&) = delete;
  /// Ends the line, if training ends by an exception.
  ~ProgressReport() {
    if (line_is_open_) std::fputc('\n', stdout);
  }

  tlm::Continue operator()(const tlm::Progress& progress) {
    sum_of_losses_ += progress.loss;
    record_.loss(progress.loss);
    ++losses_;
    const bool stops = asked_to_stop(), last = progress.step == steps_ || stops;
    const bool due = live_ ? Clock::now() - shown_ > std::chrono::milliseconds{100} : progress.step % 500 == 0;
    if (!quiet_ && (last || due)) show(progress.step, last);
    if (!stops) return tlm::Continue::yes;
    if (!quiet_)
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
    line_is_open_ = live_ && !last;
    if (!live_ || losses_ >= 500) sum_of_losses_ = 0, losses_ = 0;
  }

  std::size_t steps_;
  bool quiet_, live_, line_is_open_ = false;
  Record& record_;
  Interruption interruption_;
  Clock::time_point start_, shown_;
  double sum_of_losses_ = 0;
  std::size_t losses_ = 0;
};

/// Such as "1 2 0 2 1 0".
inline std::string spelled(const std::vector<tlm::Token>& tokens) {
  std::string text;
  for (const tlm::Token token : tokens) {
    if (!text.empty()) text += ' ';
    text += std::to_string(token);
  }
  return text;
}

/// A model's answer to a question, and the right answer.
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
