// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tlm/storage/safetensors.hpp>

#include "../printing.hpp"

/// What the tests of storage share: a directory of their own, and files as plain bytes.
namespace tlm::tests {

/// A new directory, in which the test is until its end.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "tlm-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no directory can be made for the test");
    std::filesystem::current_path(name);
  }
  Directory(const Directory&) = delete;
  ~Directory() {
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(here);
  }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void put(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);  // Some file systems wait for the disk where a file is written over.
  std::ofstream{path, std::ios::binary}.write(bytes.data(), std::streamsize(bytes.size()));
}

/// 8 bytes, the lowest first.
inline std::string eight_bytes(std::uint64_t number) {
  const auto bytes = std::bit_cast<std::array<char, 8>>(number);
  return {bytes.begin(), bytes.end()};
}

/// A file with this header and this many further bytes.
inline std::string file_of(const std::string& header, std::size_t bytes = 0) {
  return eight_bytes(header.size()) + header + std::string(bytes, 'x');
}

/// The message with which an action refuses, without the path of this directory; nothing if it does not refuse.
template <class Action>
std::string refused(const Action& action) {
  const std::string here = std::filesystem::current_path().string() + "/";
  std::string message = refusal(action);
  for (std::size_t at = 0; (at = message.find(here, at)) != message.npos;) message.erase(at, here.size());
  return message;
}

}  // namespace tlm::tests
