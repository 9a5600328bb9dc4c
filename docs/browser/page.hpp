// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// What a page and a module of WebAssembly say to each other. A function that a page calls finds a text in `page::text`, and
/// leaves its answer there and in `page::numbers`. module.js is the other side.
namespace page {

inline std::string text;
inline std::vector<double> numbers;

}  // namespace page

extern "C" {

/// Room for a text of so many bytes, for the page to write into.
[[clang::export_name("room")]] inline char* room(std::size_t bytes) {
  page::text.assign(bytes, ' ');
  return page::text.data();
}
/// The text of the last answer, which ends with a zero.
[[clang::export_name("text")]] inline const char* text_of_answer() { return page::text.c_str(); }
/// The numbers of the last answer.
[[clang::export_name("numbers")]] inline const double* numbers_of_answer() { return page::numbers.data(); }
/// How many these are.
[[clang::export_name("count")]] inline std::size_t count_of_answer() { return page::numbers.size(); }
}
