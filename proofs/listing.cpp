// SPDX-License-Identifier: MIT
// Prints the name of every claim when it is checked, so that a run reads like the article's list of notes. If the claim
// is proved, too, it names the theorems of proofs/kernel. Below a claim that fails it prints the counter-example.

#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>

namespace {

class Listing : public doctest::IReporter {
 public:
  explicit Listing(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& claim) override {
    name_ = claim.m_name;
    theorem_ = claim.m_description;
    failed_ = false;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (!stats.testCaseSuccess) fail("");
    if (!failed_)
      std::cout << "checked: " << name_ << (theorem_ ? std::string("; proved: ") + theorem_ : "") << std::endl;
    checked_ += 1;
    all_failed_ += failed_;
  }
  void test_run_end(const doctest::TestRunStats&) override {
    if (all_failed_ > 0) std::cout << all_failed_ << " of " << checked_ << " fail" << std::endl;
  }

  void log_message(const doctest::MessageData& message) override { fail(message.m_string.c_str()); }
  void log_assert(const doctest::AssertData& assertion) override {
    if (!assertion.m_failed) return;
    std::ostringstream text;
    text << "\n  " << std::filesystem::path(assertion.m_file).filename().string() << ':' << assertion.m_line << ": "
         << doctest::assertString(assertion.m_at) << '(' << assertion.m_expr << ')';
    if (assertion.m_threw)
      text << " throws: " << assertion.m_exception.c_str();
    else
      text << " is not so: " << assertion.m_decomp.c_str();
    for (int c = 0; c < get_num_active_contexts(); ++c) {
      text << "\n  ";
      get_active_contexts()[c]->stringify(&text);
    }
    fail(text.str());
  }
  void test_case_exception(const doctest::TestCaseException& exception) override {
    std::string text = exception.error_string.c_str();
    if (!text.starts_with('\n')) text.insert(0, exception.is_crash ? "\n  it crashes: " : "\n  it throws: ");
    for (int c = 0; c < get_num_stringified_contexts(); ++c)
      text += std::string("\n  ") + get_stringified_contexts()[c].c_str();
    fail(text);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  /// Prints once that the claim fails, and then why.
  void fail(const std::string& why) {
    if (!failed_) std::cout << "FAILS: " << name_;
    if (!failed_ || !why.empty()) std::cout << why << std::endl;
    failed_ = true;
  }

  const char* name_ = "";
  const char* theorem_ = nullptr;
  bool failed_ = false;
  int checked_ = 0, all_failed_ = 0;
};

DOCTEST_REGISTER_REPORTER("listing", 1, Listing);

}  // namespace
