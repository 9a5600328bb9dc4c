// SPDX-License-Identifier: MIT
// Prints the name of every claim as it is checked, so that a run reads like the write-up's list of notes; of one that is a
// theorem over ℝ, too, the theorem of proofs/kernel.

#include <doctest/doctest.h>

#include <iostream>
#include <string>

namespace {

class Listing : public doctest::IReporter {
 public:
  explicit Listing(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& claim) override {
    name_ = claim.m_name;
    theorem_ = claim.m_description;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    std::cout << (stats.testCaseSuccess ? "holds: " : "FALLS: ") << name_
              << (theorem_ ? std::string("; over ℝ: ") + theorem_ : "") << std::endl;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const char* name_ = "";
  const char* theorem_ = nullptr;
};

DOCTEST_REGISTER_LISTENER("listing", 1, Listing);

}  // namespace
