// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include <tlm/storage/atomic_file.hpp>

namespace program {

/// A file that one process has for itself, however often the process replaces it meanwhile. Another Lock of the file is
/// refused.
///
/// It locks PATH.lock beside the file. That is an empty file, which is removed at the end. A process that is killed
/// leaves it, and the next one takes it over.
class Lock {
 public:
  /// Throws std::system_error if the file is locked. Also throws if PATH.lock is not empty, because then it is
  /// something else.
  explicit Lock(const std::filesystem::path& path)
      : path_{tlm::storage::target_of(path).string() + ".lock"}, file_{tlm::storage::locked(path_, path.string())} {
    if (std::filesystem::file_size(path_) > 0)
      tlm::storage::refuse_to_write(path.string(), path_ + " is there and not empty", EEXIST);
  }
  Lock(Lock&&) = delete;
  ~Lock() { ::unlink(path_.c_str()); }  // before it is closed, which unlocks it

 private:
  std::string path_;
  tlm::storage::Descriptor file_;
};

}  // namespace program
