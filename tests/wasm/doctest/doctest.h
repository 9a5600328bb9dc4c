// SPDX-License-Identifier: MIT
// As much of doctest as the proofs need, without exceptions and files. Each claim is printed as it is checked; a REQUIRE or FAIL
// that fails ends the program.
#pragma once

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <vector>

namespace doctest {

/// What a test case is described by, which nothing here reads.
struct description {
  explicit description(const char*) {}
};

/// A test case is written TestCase{} * "its name" * description("…").
struct TestCase {
  const char* name = "";
  friend TestCase operator*(TestCase, const char* name) { return {name}; }
  friend TestCase operator*(TestCase test, description) { return test; }
};

/// What tests/printing.hpp makes of numbers, which is not printed here.
struct String {
  String(const char*) {}  // NOLINT: as doctest's
};
template <class T>
struct StringMaker;

struct Run {
  TestCase test;
  void (*check)();
};
inline std::vector<Run> runs;
inline int failures = 0;
struct Registered {
  Registered(TestCase test, void (*check)()) { runs.push_back({test, check}); }
};

inline void check(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++failures;
  std::cout << file << ':' << line << ": is not so: " << text << '\n';
}
inline void require(bool holds, const char* text, const char* file, int line) {
  check(holds, text, file, line);
  if (!holds) std::exit(1);
}
template <class Reason>
[[noreturn]] void fail(const Reason& reason) {
  std::cout << "FAILS: " << reason << '\n';
  std::exit(1);
}

}  // namespace doctest

#define DOCTEST_JOINED_TWICE(a, b) a##b
#define DOCTEST_JOINED(a, b) DOCTEST_JOINED_TWICE(a, b)
#define TEST_CASE(name)                                                                                     \
  static void DOCTEST_JOINED(claim_, __LINE__)();                                                           \
  static const doctest::Registered DOCTEST_JOINED(registered_, __LINE__){doctest::TestCase{} * name,        \
                                                                         DOCTEST_JOINED(claim_, __LINE__)}; \
  static void DOCTEST_JOINED(claim_, __LINE__)()
#define CHECK(...) doctest::check(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define REQUIRE(...) doctest::require(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define FAIL(reason) doctest::fail(reason)
#define INFO(...) static_cast<void>(0)
#define CAPTURE(...) static_cast<void>(0)

int main() {
  for (const auto& [test, check] : doctest::runs) {
    const int before = doctest::failures;
    check();
    std::cout << (doctest::failures == before ? "holds: " : "FAILS: ") << test.name << '\n';
  }
  return doctest::failures > 0 || doctest::runs.empty() ? 1 : 0;
}
