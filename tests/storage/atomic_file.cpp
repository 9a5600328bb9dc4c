// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage.hpp"

namespace {

/// What was brought to the disk, and an error to be met there instead: by fsync of this program.
struct Synchronization {
  std::vector<std::string> names;  ///< Of the files and directories.
  std::vector<bool> replaced;      ///< Whether `watched` was the new file by then.
  std::filesystem::path watched;
  std::string refused_name;
  int error = 0;
} synchronization;

/// What another process does between our opening of a file and our locking it, once.
std::function<void()> meanwhile;

/// Whether the file system is to be one without links.
bool without_links = false;

}  // namespace

// These are in the place of the system's, which they call.
extern "C" int fsync(int number) {
  const auto name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number)).string();
  synchronization.names.push_back(name);
  synchronization.replaced.push_back(tlm::tests::contents_of(synchronization.watched) == "second");
  if (name == synchronization.refused_name) {
    errno = synchronization.error;
    return -1;
  }
  return int(::syscall(SYS_fsync, number));
}

extern "C" int flock(int number, int operation) noexcept {
  if (meanwhile) std::exchange(meanwhile, nullptr)();
  return int(::syscall(SYS_flock, number, operation));
}

extern "C" int link(const char* from, const char* to) noexcept {
  if (!without_links) return int(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  errno = EPERM;
  return -1;
}

using namespace tlm;
using namespace tlm::tests;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

void replace(const std::filesystem::path& path, const std::string& text,
             storage::Existing existing = storage::Existing::replaced) {
  storage::AtomicFile file{path, existing};
  file.write(bytes_of(text));
  file.commit();
}

/// How many files are in a directory.
std::size_t count_in(const std::filesystem::path& path) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{path}) ++count;
  return count;
}

/// A megabyte of numbers that are all the same. The metadata has that number, too. Long enough that a process is killed
/// while it writes.
constexpr std::size_t count = 1 << 17;

/// A process writes such a file again and again, each time with the next number, until it is killed. Returns in how
/// many of `kills` times the file that was left is not whole. `seen` receives the numbers in the files, and
/// `while_writing` how often the process was killed while it wrote.
template <class Write>
std::size_t torn(const std::filesystem::path& path, int kills, const Write& write, std::vector<std::uint64_t>& seen,
                 std::size_t* while_writing = nullptr) {
  std::size_t not_whole = 0;
  std::uint64_t next = 1;
  for (int kill = 0; kill < kills; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::uint64_t number = next;; ++number) write(path, std::vector<std::uint64_t>(count, number));
    }
    // The first time it may finish one file. Then it is killed at any moment, in steps that do not match the time of a
    // file.
    std::this_thread::sleep_for(std::chrono::microseconds{kill == 0 ? 300'000 : 1'000 + 1'237 * (kill % 23)});
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (while_writing) *while_writing += std::filesystem::exists(path.string() + ".part");
    try {
      std::vector<std::uint64_t> numbers(count);
      std::vector<storage::Place> places;
      storage::add_numbers(places, "numbers", std::span{numbers}, {count});
      const storage::SafetensorsFile file{path};
      file.require_nothing_but(places);
      file.read(places);
      file.require_metadata({{"number", std::to_string(numbers[0])}});
      REQUIRE(numbers == std::vector<std::uint64_t>(count, numbers[0]));
      seen.push_back(numbers[0]);
      next = numbers[0] + 1;
    } catch (const std::runtime_error&) {
      ++not_whole;
    }
  }
  return not_whole;
}

void write_whole(const std::filesystem::path& path, const std::vector<std::uint64_t>& numbers) {
  std::vector<storage::Tensor> list;
  storage::add_numbers(list, "numbers", std::span{numbers}, {numbers.size()});
  storage::write(path, list, {{"number", std::to_string(numbers[0])}});
}

/// The same bytes, written over what is there.
void write_over(const std::filesystem::path& path, const std::vector<std::uint64_t>& numbers) {
  const std::string header = R"({"__metadata__":{"number":")" + std::to_string(numbers[0]) +
                             R"("},"numbers":{"dtype":"U64","shape":[)" + std::to_string(numbers.size()) +
                             R"(],"data_offsets":[0,)" + std::to_string(8 * numbers.size()) + "]}}";
  std::ofstream file{path, std::ios::binary};
  file << eight_bytes(header.size()) << header;
  file.write(reinterpret_cast<const char*>(numbers.data()), std::streamsize(8 * numbers.size()));
}

}  // namespace

TEST_CASE("a file is there when it is whole, and then alone") {
  const Directory directory;
  const auto path = directory / "file";
  replace(path, "first");
  CHECK(contents_of(path) == "first");
  {
    storage::AtomicFile file{path};
    file.write(bytes_of("sec"));
    CHECK(contents_of(path) == "first");
    file.write(bytes_of("ond"));
    CHECK(contents_of(path) == "first");
    CHECK(contents_of(directory / "file.part") == "second");
    file.commit();
    CHECK(contents_of(path) == "second");
  }
  CHECK(count_in(directory.path()) == 1);
  { storage::AtomicFile{path}.write(bytes_of("third")); }
  CHECK(contents_of(path) == "second");
  CHECK(count_in(directory.path()) == 1);
}

TEST_CASE("what a killed process left is taken over") {
  const Directory directory;
  put(directory / "file.part", "much longer than what comes");
  replace(directory / "file", "short");
  CHECK(contents_of(directory / "file") == "short");
  CHECK(count_in(directory.path()) == 1);
}

TEST_CASE("of two that write one file, the second is refused, and the first goes on") {
  const Directory directory;
  const auto path = directory / "file";
  storage::AtomicFile first{path};
  first.write(bytes_of("fir"));
  const std::string refused = "cannot write " + path.string() + ": another process has locked " + path.string() +
                              ".part: Resource temporarily unavailable";
  CHECK(refusal([&] { replace(path, "second"); }) == refused);
  CHECK(refusal_in_a_child([&] { replace(path, "second"); }) == refused);
  first.write(bytes_of("st"));
  first.commit();
  CHECK(contents_of(path) == "first");
  // It is still open, but no longer in the way.
  replace(path, "second");
  CHECK(contents_of(path) == "second");
}

TEST_CASE("what is there already is refused where it is to be, also if it comes while the file is written") {
  const Directory directory;
  const auto path = directory / "file";
  for (const bool fat : {false, true}) {
    CAPTURE(fat);
    without_links = fat;
    replace(path, "first", storage::Existing::refused);
    CHECK(contents_of(path) == "first");
    CHECK(refusal([&] { replace(path, "second", storage::Existing::refused); }) ==
          "cannot write " + path.string() + ": it is there already: File exists");
    CHECK(contents_of(path) == "first");
    CHECK(count_in(directory.path()) == 1);
    std::filesystem::remove(path);
  }
  without_links = false;
  storage::AtomicFile file{path, storage::Existing::refused};
  put(path, "another's");
  CHECK(refusal([&] { file.commit(); }) ==
        "cannot write " + path.string() + ": linking " + path.string() + ".part to it: File exists");
  CHECK(contents_of(path) == "another's");
}

TEST_CASE("a lock keeps another one away for as long as it is there, however often the file is replaced") {
  const Directory directory;
  const auto path = directory / "file", link = directory / "link";
  std::filesystem::create_symlink("file", link);
  const std::string refused = "cannot write " + link.string() + ": another process has locked " + path.string() +
                              ".lock: Resource temporarily unavailable";
  const auto another = [&] { return refusal_in_a_child([&] { storage::Lock{link}; }); };
  {
    const storage::Lock lock{path};
    CHECK(another() == refused);
    replace(path, "first");
    replace(path, "second");
    CHECK(another() == refused);
  }
  CHECK(count_in(directory.path()) == 2);
  CHECK(another() == "");
  // What a killed process left is taken over.
  put(directory / "file.lock", "");
  { const storage::Lock lock{path}; }
  CHECK(count_in(directory.path()) == 2);
  // A file that is not empty is not a lock.
  put(directory / "file.lock", "a text");
  CHECK(refusal([&] { storage::Lock{path}; }) ==
        "cannot write " + path.string() + ": " + path.string() + ".lock is there and not empty: File exists");
  CHECK(contents_of(directory / "file.lock") == "a text");
  CHECK(refusal([] { storage::Lock{""}; }) == "cannot write '': it has no name: No such file or directory");
}

TEST_CASE("what another process puts in its place just before it is locked is not touched") {
  const Directory directory;
  const auto path = directory / "file";
  put(directory / "file.part", "another's");
  meanwhile = [&] {
    std::filesystem::rename(directory / "file.part", path);
    put(directory / "file.part", "its next, when it was killed");
  };
  storage::AtomicFile file{path};
  CHECK(contents_of(path) == "another's");
  file.write(bytes_of("ours"));
  CHECK(contents_of(path) == "another's");
  file.commit();
  CHECK(contents_of(path) == "ours");
  CHECK(count_in(directory.path()) == 1);
}

TEST_CASE("several processes at once: every file that is seen is whole") {
  const Directory directory;
  const auto path = directory / "file";
  std::vector<pid_t> children;
  for (const char letter : {'a', 'b', 'c'}) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 100; ++i) refusal([&] { replace(path, std::string(50'000, letter)); });
      ::_exit(0);
    }
    children.push_back(child);
  }
  std::size_t seen = 0;
  for (std::size_t ended = 0; ended < children.size();) {
    const std::string text = contents_of(path);
    if (!text.empty()) {
      ++seen;
      REQUIRE(text == std::string(50'000, text[0]));
    }
    ended += ::waitpid(-1, nullptr, WNOHANG) > 0;
  }
  CHECK(seen > 0);
  CHECK(count_in(directory.path()) == 1);
}

TEST_CASE("permissions stay, and a link goes on leading to the file") {
  const Directory directory;
  const auto path = directory / "file", link = directory / "link";
  put(path, "first");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("file", link);
  replace(link, "second");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(contents_of(path) == "second");
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a link that leads to nothing yet goes on leading there, and one in a circle is refused") {
  const Directory directory;
  std::filesystem::create_directory(directory / "disk");
  std::filesystem::create_directory(directory / "here");
  std::filesystem::create_symlink("../disk/model", directory / "here/model");
  std::filesystem::create_symlink("here/model", directory / "link");
  for (const auto* const text : {"first", "second"}) {
    replace(directory / "link", text);
    CHECK(contents_of(directory / "disk/model") == text);
  }
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(std::filesystem::is_symlink(directory / "here/model"));
  CHECK(count_in(directory / "disk") == 1);

  const auto circle = directory / "a";
  std::filesystem::create_symlink("b", circle);
  std::filesystem::create_symlink("a", directory / "b");
  CHECK(refusal([&] { replace(circle, "text"); }) ==
        "cannot tell where " + circle.string() + " leads: Too many levels of symbolic links");
  CHECK(std::filesystem::is_symlink(circle));

  const auto nowhere = directory / "nowhere";
  std::filesystem::create_symlink("none/file", nowhere);
  CHECK(refusal([&] { replace(nowhere, "text"); }) == "cannot write " + (directory / "none/file").string() +
                                                          ": making " + (directory / "none/file").string() +
                                                          ".part: No such file or directory");
  CHECK(std::filesystem::is_symlink(nowhere));
}

TEST_CASE("what cannot be written is refused in the system's words, and nothing is lost") {
  const Directory directory;
  const auto refused = [&](const std::filesystem::path& path) { return refusal([&] { replace(path, "text"); }); };

  const auto nowhere = directory / "none/file";
  CHECK(refused(nowhere) ==
        "cannot write " + nowhere.string() + ": making " + nowhere.string() + ".part: No such file or directory");

  const auto in_the_way = directory / "in the way";
  std::filesystem::create_directory(in_the_way);
  CHECK(refused(in_the_way) == "cannot write " + in_the_way.string() + ": it is in the way: Is a directory");

  CHECK(refused("/dev/full") == "cannot write /dev/full: it is no regular file: Invalid argument");
  CHECK(refused("") == "cannot write '': it has no name: No such file or directory");

  const auto below = directory / "file/below";
  put(directory / "file", "text");
  CHECK(refused(below) == "cannot tell where " + below.string() + " leads: Not a directory");

  // A link in the place of .part is not followed.
  std::filesystem::create_symlink("file", directory / "other.part");
  const auto other = directory / "other";
  CHECK(refused(other) ==
        "cannot write " + other.string() + ": making " + other.string() + ".part: Too many levels of symbolic links");
  CHECK(contents_of(directory / "file") == "text");
  CHECK(count_in(directory.path()) == 3);
}

TEST_CASE("a directory that must not be written to") {
  const Directory directory;
  const auto inside = directory / "inside";
  std::filesystem::create_directory(inside);
  put(inside / "file", "first");
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  std::filesystem::permissions(inside, std::filesystem::perms(0555));
  const auto path = inside / "file";
  const auto refused = [](const std::filesystem::path& to) {
    return refusal_in_a_child([&] {
      // Root may write everywhere: become nobody.
      if (::geteuid() == 0 && ::seteuid(65534) != 0) throw std::runtime_error("root cannot become nobody");
      replace(to, "second");
    });
  };
  CHECK(refused(path) == "cannot write " + path.string() + ": making " + path.string() + ".part: Permission denied");
  CHECK(contents_of(path) == "first");

  // Nor followed: where a link leads is not known then.
  const auto link = directory / "link";
  std::filesystem::create_symlink("inside/new", link);
  std::filesystem::permissions(inside, std::filesystem::perms(0));
  CHECK(refused(link) == "cannot tell where " + link.string() + " leads: Permission denied");
  CHECK(std::filesystem::is_symlink(link));
  std::filesystem::permissions(inside, std::filesystem::perms::owner_all);
}

TEST_CASE("a disk that is full at any byte leaves the last file whole") {
  const Directory directory;
  const auto path = directory / "file";
  replace(path, "first");
  const std::string text(10'000, 'x');
  const auto refused = [&](rlim_t room) {
    return refusal_in_a_child([&] {
      // Files cannot grow beyond this: as on a full disk, a part of what is written fits, and the rest is refused.
      const rlimit limit{room, room};
      if (std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR || ::setrlimit(RLIMIT_FSIZE, &limit) != 0)
        throw std::runtime_error("files cannot be limited");
      replace(path, text);
    });
  };
  for (const rlim_t room : {0u, 1u, 4096u, 9'999u}) {
    CHECK(refused(room) == "cannot write " + path.string() + ": writing " + path.string() + ".part: File too large");
    CHECK(contents_of(path) == "first");
    CHECK(count_in(directory.path()) == 1);
  }
  CHECK(refused(10'000) == "");
  CHECK(contents_of(path) == text);
}

TEST_CASE("the file is brought to the disk before it is renamed, and its directory afterwards") {
  const Directory directory;
  const auto path = directory / "file";
  const std::string part = path.string() + ".part";
  replace(path, "first");
  synchronization = {.names = {}, .replaced = {}, .watched = path, .refused_name = ""};
  replace(path, "second");
  CHECK(synchronization.names == std::vector<std::string>{part, directory.path().string()});
  CHECK(synchronization.replaced == std::vector<bool>{false, true});

  // Some systems find out only now that the disk is full.
  replace(path, "first");
  synchronization.refused_name = part;
  synchronization.error = ENOSPC;
  CHECK(refusal([&] { replace(path, "second"); }) ==
        "cannot write " + path.string() + ": bringing " + part + " to the disk: No space left on device");
  CHECK(contents_of(path) == "first");
  CHECK(count_in(directory.path()) == 1);

  synchronization.refused_name = directory.path().string();
  synchronization.error = EIO;
  CHECK(refusal([&] { replace(path, "second"); }) ==
        path.string() +
            " was replaced, but may be the old one after a power failure: its directory cannot be "
            "synchronized: Input/output error");
  CHECK(contents_of(path) == "second");
  CHECK(count_in(directory.path()) == 1);
  synchronization.error = EINVAL;
  replace(path, "third");
  CHECK(contents_of(path) == "third");
  synchronization = {};
}

TEST_CASE("a file in the directory where one is") {
  const Directory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  replace("file", "text");
  std::filesystem::current_path(before);
  CHECK(contents_of(directory / "file") == "text");
}

TEST_CASE("kill -9 at any moment leaves the last file whole") {
  const Directory directory;
  std::vector<std::uint64_t> seen;
  std::size_t while_writing = 0;
  CHECK(torn(directory / "file", 50, write_whole, seen, &while_writing) == 0);
  CHECK(while_writing > 0);
  CHECK(seen.size() == 50);
  for (std::size_t kill = 1; kill < seen.size(); ++kill) CHECK(seen[kill] >= seen[kill - 1]);
  CHECK(seen.back() > seen.front());
  // However often: what is left over is one file, which the next one takes over.
  CHECK(count_in(directory.path()) <= 2);
  write_whole(directory / "file", {7});
  CHECK(count_in(directory.path()) == 1);
}

TEST_CASE("negative control: writing over the file does not leave it whole") {
  const Directory directory;
  std::vector<std::uint64_t> seen;
  CHECK(torn(directory / "file", 50, write_over, seen) > 0);
}
