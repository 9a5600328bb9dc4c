// SPDX-License-Identifier: MIT
// What Debian's libc++ for wasm32 leaves out, or does at a length that a page would have to load.

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <exception>

// Exceptions: libc++abi leaves these functions out, as wasm32-wasi has no unwinding. Here an exception ends the call of the
// page, which is told what() and sets the stack back. No destructor runs, and what they would have freed stays. So nothing is
// caught in a module, and its page must not go on with what the call left half done.
extern "C" {

[[clang::import_module("page"), clang::import_name("thrown")]] [[noreturn]] void page_thrown(const char* what);

void* __cxa_allocate_exception(std::size_t size) { return std::malloc(size); }
void __cxa_free_exception(void* exception) { std::free(exception); }
/// All that the library throws is a std::exception, which is its first base.
[[noreturn]] void __cxa_throw(void* exception, void*, void*) {
  page_thrown(static_cast<const std::exception*>(exception)->what());
}
[[noreturn]] void __cxa_rethrow() { std::abort(); }
void* __cxa_begin_catch(void* exception) { return exception; }
void __cxa_end_catch() {}

/// Writes a number in the fewest digits that are read as the same double, or the same float; returns how many characters.
[[clang::import_module("page"), clang::import_name("number")]] int page_number(char* to, double number, int is_float);
}

// Numbers in sentences: the tables by which libc++ writes them would be half of a module, and the page can write them.
std::to_chars_result std::to_chars(char* first, char*, double number) {
  return {first + page_number(first, number, 0), std::errc{}};
}
std::to_chars_result std::to_chars(char* first, char*, float number) {
  return {first + page_number(first, double(number), 1), std::errc{}};
}
