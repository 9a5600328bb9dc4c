// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <tlm/base/language.hpp>

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

/// The file to which a path leads through symbolic links, even if it does not exist yet. Throws std::system_error if
/// that cannot be found out, such as for a loop of links, and for an empty name.
inline std::filesystem::path target_of(const std::filesystem::path& path) {
  if (path.empty()) fail("cannot write '': it has no name", ENOENT);
  std::error_code error, no_link;
  const auto target = std::filesystem::canonical(path, error);
  if (!error) return target;
  if (error != std::errc::no_such_file_or_directory)
    fail("cannot tell where " + shown(path.string()) + " leads", error.value());
  const auto next = std::filesystem::read_symlink(path, no_link);
  return no_link ? path : target_of(path.parent_path() / next);
}

/// Throws std::system_error: `file` cannot be written, and why.
[[noreturn]] inline void refuse_to_write(const std::string& file, const std::string& why, int error = errno) {
  fail("cannot write " + shown(file) + ": " + why, error);
}

/// Opens the file of this path for writing (a pipe that nobody reads is none), makes it if it does not exist, and locks
/// it: it is ours until it is closed. Otherwise `written` cannot be written, which this throws.
inline Descriptor locked(const std::string& path, const std::string& written) {
  while (true) {
    Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666)};
    if (file.number() < 0) refuse_to_write(written, "making " + path);
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0)
      refuse_to_write(written, (errno == EWOULDBLOCK ? "another writer has locked " : "locking ") + path);
    // Its previous owner may have renamed or removed it between our opening and our locking it. Then our file no longer
    // has this name, and the next try makes a new one.
    struct stat ours {
    }, there{};
    if (::fstat(file.number(), &ours) != 0 || (::lstat(path.c_str(), &there) != 0 && errno != ENOENT))
      refuse_to_write(written, "looking at " + path);
    if (there.st_ino != ours.st_ino || there.st_dev != ours.st_dev) continue;
    // With a second name it is no part file: a process was killed between the two steps of AtomicFile::commit, or somebody
    // linked it. What has the other name is to stay.
    if (ours.st_nlink < 2) return file;
    if (::unlink(path.c_str()) != 0) refuse_to_write(written, "removing " + path);
  }
}

/// What an AtomicFile does if the file already exists.
enum class Existing { replaced, refused };

/// A file that is replaced whole or not at all:
///
///   AtomicFile file{path};
///   file.write(bytes);  // any number of times
///   file.commit();
///
/// The bytes go to PATH.part beside it. Only commit() flushes that to the disk, and then renames it to PATH. So whoever
/// opens PATH sees the old file or all of the new one, even after a kill -9 at any moment or on a full disk. (The same
/// holds after a power failure, as far as the disk and its file system keep what fsync promises.)
///
/// PATH.part is removed if it is not committed. A process that is killed leaves it, and the next one that writes PATH
/// takes it over, unless PATH and so PATH.part are read-only. While one process writes PATH, another one is refused.
/// If PATH is a symbolic link, the file to which it leads is written, even if that does not exist yet. Permissions
/// stay as they were. All functions throw std::system_error with the system's words.
class AtomicFile {
 public:
  /// Also throws for a directory or anything else that is not a regular file, for an empty name, and for an existing
  /// file if that is to be refused.
  explicit AtomicFile(const std::filesystem::path& path, Existing existing = Existing::replaced)
      : path_{target_of(path).string()}, part_{path_ + ".part"}, existing_{existing} {
    const auto old = std::filesystem::status(path_);
    const bool replaces = std::filesystem::exists(old);
    if (replaces && existing == Existing::refused) refuse("it is there already", EEXIST);
    if (std::filesystem::is_directory(old)) refuse("it is in the way", EISDIR);
    if (replaces && !std::filesystem::is_regular_file(old)) refuse("it is no regular file", EINVAL);
    file_ = locked(part_, path_);
    if (::ftruncate(file_.number(), 0) != 0 ||
        (replaces && ::fchmod(file_.number(), mode_t(old.permissions()) & 0777) != 0)) {
      const int error = errno;
      ::unlink(part_.c_str());
      refuse("preparing " + part_, error);
    }
  }
  AtomicFile(AtomicFile&&) = delete;
  ~AtomicFile() {
    if (file_.number() >= 0) ::unlink(part_.c_str());  // before it is closed, which unlocks it
  }

  /// Appends to what was written before.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) refuse("writing " + part_);
      if (count > 0) bytes = bytes.subspan(std::size_t(count));
    }
  }

  /// Replaces the file by what was written. If that throws, the file is as it was, unless the sentence says that it was
  /// replaced. If existing files are refused, so is one that came meanwhile. (On a file system without hard links, one that
  /// comes in the last moment is replaced.)
  void commit() {
    if (::fsync(file_.number()) != 0) refuse("bringing " + part_ + " to the disk");
    // Unlike a rename, a link replaces nothing.
    const bool refused = existing_ == Existing::refused, linked = refused && ::link(part_.c_str(), path_.c_str()) == 0;
    if (refused && !linked && std::filesystem::exists(std::filesystem::symlink_status(path_)))
      refuse("linking " + part_ + " to it", EEXIST);
    if (linked)
      ::unlink(part_.c_str());
    else if (std::rename(part_.c_str(), path_.c_str()) != 0)
      refuse("renaming " + part_);
    file_ = Descriptor{};  // it is PATH from now on, which is not to be changed; and another writer may make PATH.part
    const auto directory = std::filesystem::path{path_}.parent_path();
    const Descriptor parent{::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    // EINVAL: a file system that has nothing to flush for a directory.
    if (parent.number() < 0 || (::fsync(parent.number()) != 0 && errno != EINVAL))
      fail(path_ + " was replaced, but may be the old one after a power failure: its directory cannot be synchronized");
  }

 private:
  [[noreturn]] void refuse(const std::string& why, int error = errno) const { refuse_to_write(path_, why, error); }

  std::string path_, part_;
  Existing existing_;
  Descriptor file_;  // open until it is committed
};

}  // namespace tlm::storage
