// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <tlm/base/language.hpp>
#include <tlm/base/refuse.hpp>

/// Weights, and everything else in a training run, to and from disk. These headers are opt-in. They need POSIX, and
/// nlohmann-json beside what tlm.hpp needs.
namespace tlm::storage {

/// Throws std::system_error, such as "WHAT: No space left on device", with the error in the system's words.
[[noreturn]] inline void fail(const std::string& what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

/// A path as a sentence shows it: an empty one as ''.
inline std::string shown(const std::string& path) { return path.empty() ? "''" : path; }

/// An open file, which its destructor closes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_{number} {}
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  /// The file descriptor; negative if the file could not be opened.
  int number() const { return number_; }

 private:
  int number_;
};

/// A file to read.
class Reading {
 public:
  /// Throws std::system_error if it cannot be opened or is not a regular file.
  explicit Reading(const std::filesystem::path& path)
      // Do not wait for a pipe that nobody writes to.
      : name_{shown(path.string())}, file_{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {
    struct stat status {};
    if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0) fail("cannot read " + name_);
    if (S_ISDIR(status.st_mode)) fail("cannot read " + name_, EISDIR);
    if (!S_ISREG(status.st_mode)) fail("cannot read " + name_ + ", which is no regular file", EINVAL);
    size_ = std::uint64_t(status.st_size);
  }

  /// The path by which it was opened, as a sentence shows it.
  const std::string& name() const { return name_; }
  /// The number of its bytes when it was opened.
  std::uint64_t size() const { return size_; }

  /// Fills `bytes` with the bytes of the file from this offset on. Throws std::system_error if it cannot, and
  /// std::runtime_error if the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pread(file_.number(), bytes.data(), bytes.size(), off_t(offset));
      if (count == 0) refuse<std::runtime_error>({name_, " has become shorter while it was read"});
      if (count < 0 && errno != EINTR) fail("cannot read " + name_);
      if (count < 0) continue;
      bytes = bytes.subspan(std::size_t(count));
      offset += std::uint64_t(count);
    }
  }

 private:
  std::string name_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace tlm::storage
