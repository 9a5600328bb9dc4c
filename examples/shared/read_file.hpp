// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <tlm/base/language.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/storage/atomic_file.hpp>

namespace program {

/// All bytes of a file. Throws std::runtime_error, with the path and the reason, if it cannot be read. The same if it
/// is not a regular file but, for example, a directory, a device or a pipe.
inline std::string read_file(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    tlm::refuse<std::runtime_error>({"cannot read ", tlm::storage::shown(path.string()), ": ", why});
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) refuse(error.message());
  if (!std::filesystem::is_regular_file(status)) refuse("it is not a file");
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  if (!in) refuse(std::strerror(errno));
  std::string bytes;
  std::array<char, 1 << 16> piece;
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) bytes.append(piece.data(), std::size_t(in.gcount()));
  if (in.bad()) refuse("it broke off after " + std::to_string(bytes.size()) + " bytes");
  return bytes;
}

}  // namespace program
