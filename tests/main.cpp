// SPDX-License-Identifier: MIT
// The main function of every test program, compiled once. A run in which no test case was chosen has checked nothing, and fails.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

namespace {

/// How many test cases the run has chosen.
unsigned chosen = 0;

class Counting : public doctest::IReporter {
 public:
  explicit Counting(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& stats) override { chosen = stats.numTestCasesPassingFilters; }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("counting", 1, Counting);

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context{argc, argv};
  const int result = context.run();
  if (context.shouldExit() || chosen > 0) return result;
  std::cerr << argv[0] << ": no test case has been chosen\n";
  return 1;
}
