// SPDX-License-Identifier: MIT
#pragma once

#include <sys/file.h>

#include <cstdio>

#include <tlm/storage/file.hpp>

namespace tlm::storage {

/// A file that is replaced whole or not at all:
///
///   AtomicFile file{path};
///   file.write(bytes);  // any number of times
///   file.commit();
///
/// The bytes go to PATH.part beside it. Only commit() puts that in the place of PATH, by rename, and before that has the
/// system bring it to the disk: whoever opens PATH sees what was there, or all that was written, also after a kill -9 at any
/// moment or on a full disk. (After a power failure, too, as far as the disk and its file system keep what fsync promises.)
///
/// PATH.part is removed if it is not committed. A process that is killed leaves it, and the next one that writes PATH
/// takes it over. Two that write PATH at a time: the second is refused. If PATH is a symbolic link, what it leads to is
/// replaced; permissions stay as they were. All functions throw std::system_error with the system's words.
class AtomicFile {
 public:
  /// Throws also for a directory and whatever else is no regular file, and for no name.
  explicit AtomicFile(const std::filesystem::path& path) : path_{target_of(path)}, part_{path_ + ".part"} {
    if (path_.empty()) refuse("it has no name", ENOENT);
    struct stat old {};
    const bool replaces = ::stat(path_.c_str(), &old) == 0;
    if (replaces && S_ISDIR(old.st_mode)) refuse("it is in the way", EISDIR);
    if (replaces && !S_ISREG(old.st_mode)) refuse("it is no regular file", EINVAL);
    file_ = locked();
    if (::ftruncate(file_.number(), 0) != 0 || (replaces && ::fchmod(file_.number(), old.st_mode & 0777) != 0)) {
      const int error = errno;
      ::unlink(part_.c_str());
      refuse("preparing " + part_, error);
    }
  }
  AtomicFile(AtomicFile&&) = delete;
  ~AtomicFile() {
    if (!committed_) ::unlink(part_.c_str());  // before it is closed, which unlocks it
  }

  /// Behind what was written before.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) refuse("writing " + part_);
      if (count > 0) bytes = bytes.subspan(std::size_t(count));
    }
  }

  /// Puts what was written in the place of the file. If that throws, the file is as it was, unless the sentence says that
  /// it was replaced.
  void commit() {
    if (::fsync(file_.number()) != 0) refuse("bringing " + part_ + " to the disk");
    if (std::rename(part_.c_str(), path_.c_str()) != 0) refuse("renaming " + part_);
    committed_ = true;
    const auto directory = std::filesystem::path{path_}.parent_path();
    const Descriptor parent{::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    // EINVAL: a file system that has nothing to bring to the disk for a directory.
    if (parent.number() < 0 || (::fsync(parent.number()) != 0 && errno != EINVAL))
      fail(path_ + " was replaced, but may be the old one after a power failure: its directory cannot be synchronized");
  }

 private:
  static std::string target_of(const std::filesystem::path& path) {
    std::error_code none;
    const auto target = std::filesystem::canonical(path, none);
    return (none ? path : target).string();
  }

  [[noreturn]] void refuse(const std::string& why, int error = errno) const {
    fail("cannot write " + shown(path_) + ": " + why, error);
  }

  /// PATH.part, which is ours until it is closed. Who had it before may have renamed or removed it between our opening
  /// and locking it: then what we hold is no longer PATH.part, and the next try makes a new one.
  Descriptor locked() const {
    while (true) {
      Descriptor part{::open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)};
      if (part.number() < 0) refuse("making " + part_);
      if (::flock(part.number(), LOCK_EX | LOCK_NB) != 0)
        refuse(errno == EWOULDBLOCK ? "another process is writing " + part_ : "locking " + part_);
      struct stat ours {
      }, there{};
      if (::fstat(part.number(), &ours) != 0) refuse("looking at " + part_);
      if (::lstat(part_.c_str(), &there) == 0 && there.st_ino == ours.st_ino && there.st_dev == ours.st_dev)
        return part;
    }
  }

  std::string path_, part_;
  Descriptor file_;
  bool committed_ = false;
};

}  // namespace tlm::storage
