// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <examples/shared/lock.hpp>

#include "storage.hpp"

namespace {

/// The error that fsync of this program meets for a file or directory of this name; 0 if it does what the system does.
std::function<int(const std::string&)> error_of_fsync;

/// What another process does between our opening of a file and our locking it, once.
std::function<void()> meanwhile;

/// Whether the file system is to be one without links.
bool without_links = false;

}  // namespace

// These are in the place of the system's, which they call.
extern "C" int fsync(int number) {
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number));
  errno = error_of_fsync ? error_of_fsync(path.filename().string()) : 0;
  return errno != 0 ? -1 : int(::syscall(SYS_fsync, number));
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

namespace tlm::tests::in_atomic_file {

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

void replace(const std::string& path, const std::string& text,
             storage::Existing existing = storage::Existing::replaced) {
  storage::AtomicFile file{path, existing};
  file.write(bytes_of(text));
  file.commit();
}

/// Why that is refused.
std::string why_not_replaced(const std::string& path, storage::Existing existing = storage::Existing::replaced) {
  return refused([&] { replace(path, "text", existing); });
}

/// How many files are here.
auto files_here() { return std::distance(std::filesystem::directory_iterator{"."}, {}); }

/// A megabyte of numbers that are all the same: long enough that a process is killed while it writes.
constexpr std::size_t count = 1 << 17;

/// The number in such a file; 0 if it is not whole.
std::uint64_t number_in_file() {
  std::vector<std::uint64_t> numbers(count);
  std::vector<storage::Place> places;
  storage::add_numbers(places, "numbers", std::span{numbers}, {count});
  try {
    storage::SafetensorsFile{"file"}.read(places);
  } catch (const std::runtime_error&) {
    return 0;
  }
  return numbers == std::vector(count, numbers[0]) ? numbers[0] : 0;
}

/// A process writes such a file again and again, each time with the next number, until it is killed: 50 times. Returns
/// the number in each file that was left. The function `after` is called after each kill.
template <class Write, class After>
std::vector<std::uint64_t> left_by_killed(const Write& write, const After& after) {
  std::error_code none_yet;
  const auto last_write = [&] { return std::filesystem::last_write_time("file", none_yet); };
  std::vector<std::uint64_t> left;
  for (int kill = 0; kill < 50; ++kill) {
    const auto before = last_write();
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (std::uint64_t number = left.empty() ? 1 : left.back() + 1;; ++number) {
        const std::vector<std::uint64_t> numbers(count, number);
        std::vector<storage::Tensor> list;
        storage::add_numbers(list, "numbers", std::span{numbers}, {count});
        if (!refusal([&] { write(list); }).empty()) ::_exit(1);
      }
    }
    // When it has written a file, it is killed at any moment, in steps that do not match the time of a file.
    while (last_write() == before && ::waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    std::this_thread::sleep_for(std::chrono::microseconds{1'237 * (kill % 23)});
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    after();
    left.push_back(number_in_file());
  }
  return left;
}

}  // namespace

TEST_CASE("a file is there when it is whole, and then alone") {
  const Directory directory;
  put("file.part", "what a killed process left is taken over");
  replace("file", "first");
  CHECK(contents_of("file") == "first");
  {
    storage::AtomicFile file{"file"};
    file.write(bytes_of("sec"));
    CHECK(contents_of("file") == "first");
    file.write(bytes_of("ond"));
    CHECK(contents_of("file") == "first");
    CHECK(contents_of("file.part") == "second");
    file.commit();
    CHECK(contents_of("file") == "second");
    // From then on neither that file is changed, nor what another process writes.
    put("file.part", "another's");
    CHECK(refused([&] { file.write(bytes_of("more")); }) ==
          "cannot write file: writing file.part: Bad file descriptor");
    CHECK_THROWS_AS(file.commit(), std::system_error);
    CHECK(contents_of("file") == "second");
    CHECK(contents_of("file.part") == "another's");
    std::filesystem::remove("file.part");
  }
  CHECK(files_here() == 1);
  std::filesystem::create_hard_link("file", "file.part");  // as where a process was killed after linking
  { storage::AtomicFile{"file"}.write(bytes_of("third")); }
  CHECK(contents_of("file") == "second");
  CHECK(files_here() == 1);
}

TEST_CASE("of two that write one file, the second is refused, and the first goes on") {
  const Directory directory;
  storage::AtomicFile first{"file"};
  first.write(bytes_of("fir"));
  const std::string why = "cannot write file: another writer has locked file.part: Resource temporarily unavailable";
  CHECK(why_not_replaced("file") == why);
  first.write(bytes_of("st"));
  first.commit();
  CHECK(contents_of("file") == "first");
  // It is still open, but no longer in the way.
  replace("file", "second");
  CHECK(contents_of("file") == "second");
}

TEST_CASE("what is there already is refused where it is to be, also if it comes while the file is written") {
  const Directory directory;
  for (const bool fat : {false, true}) {
    CAPTURE(fat);
    without_links = fat;
    replace("file", "first", storage::Existing::refused);
    CHECK(why_not_replaced("file", storage::Existing::refused) ==
          "cannot write file: it is there already: File exists");
    CHECK(contents_of("file") == "first");
    CHECK(files_here() == 1);
    std::filesystem::remove("file");
  }
  without_links = false;
  storage::AtomicFile file{"file", storage::Existing::refused};
  put("file", "another's");
  CHECK(refused([&] { file.commit(); }) == "cannot write file: linking file.part to it: File exists");
  CHECK(contents_of("file") == "another's");
}

TEST_CASE("a lock keeps another one away for as long as it is there, however often the file is replaced") {
  const Directory directory;
  std::filesystem::create_symlink("file", "link");
  const std::string locked = "cannot write link: another writer has locked file.lock: Resource temporarily unavailable";
  const auto another = [] { return refused([] { program::Lock{"link"}; }); };
  {
    const program::Lock lock{"file"};
    CHECK(another() == locked);
    replace("file", "first");
    replace("file", "second");
    CHECK(another() == locked);
  }
  CHECK(files_here() == 2);
  CHECK(another() == "");
  // What a killed process left is taken over.
  put("file.lock", "");
  { const program::Lock lock{"file"}; }
  CHECK(files_here() == 2);
  // A file that is not empty is not a lock.
  put("file.lock", "x");
  CHECK(refused([] { program::Lock{"file"}; }) == "cannot write file: file.lock is there and not empty: File exists");
  CHECK(contents_of("file.lock") == "x");
  CHECK(refused([] { program::Lock{""}; }) == "cannot write '': it has no name: No such file or directory");
}

TEST_CASE("what another process puts in its place just before it is locked is not touched") {
  const Directory directory;
  put("file.part", "another's");
  meanwhile = [] {
    std::filesystem::rename("file.part", "file");
    put("file.part", "its next, when it was killed");
  };
  storage::AtomicFile file{"file"};
  file.write(bytes_of("ours"));
  CHECK(contents_of("file") == "another's");
  file.commit();
  CHECK(contents_of("file") == "ours");
  CHECK(files_here() == 1);
}

TEST_CASE("permissions stay, and a link goes on leading to the file, even if there is none yet") {
  const Directory directory;
  std::filesystem::create_directory("disk");
  std::filesystem::create_directory("here");
  std::filesystem::create_symlink("../disk/model", "here/model");
  std::filesystem::create_symlink("here/model", "link");
  replace("link", "first");
  CHECK(contents_of("disk/model") == "first");
  std::filesystem::permissions("disk/model", std::filesystem::perms(0600));
  replace("link", "second");
  CHECK(contents_of("disk/model") == "second");
  CHECK(std::filesystem::status("disk/model").permissions() == std::filesystem::perms(0600));
  for (const auto* const link : {"link", "here/model"}) CHECK(std::filesystem::is_symlink(link));
  CHECK_FALSE(std::filesystem::exists("disk/model.part"));
}

TEST_CASE("what cannot be written is refused in the system's words, and nothing is lost") {
  const Directory directory;
  put("file", "before");
  std::filesystem::create_directory("in the way");
  const std::vector<std::pair<const char*, const char*>> links{
      {"circle", "circle"}, {"nowhere", "none/file"}, {"other.part", "file"}};
  for (const auto& [link, target] : links) std::filesystem::create_symlink(target, link);
  for (const auto& [path, why] : std::vector<std::pair<const char*, const char*>>{
           {"none/file", "cannot write none/file: making none/file.part: No such file or directory"},
           {"in the way", "cannot write in the way: it is in the way: Is a directory"},
           {"/dev/full", "cannot write /dev/full: it is no regular file: Invalid argument"},
           {"", "cannot write '': it has no name: No such file or directory"},
           {"file/below", "cannot tell where file/below leads: Not a directory"},
           {"circle", "cannot tell where circle leads: Too many levels of symbolic links"},
           {"nowhere", "cannot write none/file: making none/file.part: No such file or directory"},
           // A link in the place of .part is not followed.
           {"other", "cannot write other: making other.part: Too many levels of symbolic links"}})
    CHECK(why_not_replaced(path) == why);
  for (const auto& [link, target] : links) CHECK(std::filesystem::read_symlink(link) == target);
  CHECK(contents_of("file") == "before");
  CHECK(files_here() == 5);
}

TEST_CASE("a disk that is full at any byte leaves the last file whole") {
  const Directory directory;
  replace("file", "first");
  const std::string text(10'000, 'x');
  const auto why_refused = [&](rlim_t room) {
    // Files cannot grow beyond this: as on a full disk, a part of what is written fits, and the rest is refused.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
    std::swap(limit.rlim_cur, room);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const std::string why = refused([&] { replace("file", text); });
    limit.rlim_cur = room;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return why;
  };
  for (const rlim_t room : {0u, 1u, 4096u, 9'999u}) {
    CHECK(why_refused(room) == "cannot write file: writing file.part: File too large");
    CHECK(contents_of("file") == "first");
    CHECK(files_here() == 1);
  }
  CHECK(why_refused(10'000) == "");
  CHECK(contents_of("file") == text);
}

TEST_CASE("the file is brought to the disk before it is renamed, and its directory afterwards") {
  const Directory directory;
  const std::string here = std::filesystem::current_path().filename().string();
  replace("file", "first");
  std::vector<std::pair<std::string, std::string>> synchronized;
  std::string name;
  int error = 0;
  error_of_fsync = [&](const std::string& of) {
    synchronized.emplace_back(of, contents_of("file"));
    return of == name ? error : 0;
  };
  replace("file", "second");
  CHECK(synchronized == std::vector<std::pair<std::string, std::string>>{{"file.part", "first"}, {here, "second"}});
  // Its own directory, which need not be this one.
  std::filesystem::create_directory("sub");
  replace("sub/file", "another");
  CHECK(synchronized.back().first == "sub");
  std::filesystem::remove_all("sub");

  // Some systems find out only now that the disk is full.
  name = "file.part", error = ENOSPC;
  CHECK(why_not_replaced("file") == "cannot write file: bringing file.part to the disk: No space left on device");
  CHECK(contents_of("file") == "second");
  CHECK(files_here() == 1);

  name = here, error = EIO;
  CHECK(why_not_replaced("file") ==
        "file was replaced, but may be the old one after a power failure: its directory cannot be synchronized: "
        "Input/output error");
  CHECK(contents_of("file") == "text");
  CHECK(files_here() == 1);
  error = EINVAL;
  replace("file", "third");
  CHECK(contents_of("file") == "third");
  error_of_fsync = nullptr;
}

TEST_CASE("kill -9 at any moment leaves the last file whole") {
  const Directory directory;
  std::size_t while_writing = 0;
  const auto left = left_by_killed([](const std::vector<storage::Tensor>& list) { storage::write("file", list); },
                                   [&] { while_writing += std::filesystem::exists("file.part"); });
  CHECK(while_writing > 0);
  CHECK(left.front() > 0);  // 0 would be one that is not whole
  CHECK_MESSAGE(std::adjacent_find(left.begin(), left.end(), std::greater_equal{}) == left.end(), printed(left));
  // However often: what is left over is one file, which the next one takes over.
  CHECK(files_here() <= 2);
  replace("file", "text");
  CHECK(files_here() == 1);
}

TEST_CASE("negative control: writing over the file does not leave it whole") {
  const Directory directory;
  const auto write_over = [](const std::vector<storage::Tensor>& list) {
    std::ofstream file{"file", std::ios::binary};
    file << file_of(storage::written_header(list, {}));
    file.write(reinterpret_cast<const char*>(list[0].bytes.data()), std::streamsize(list[0].bytes.size()));
  };
  const auto left = left_by_killed(write_over, [] {});
  CHECK(std::count(left.begin(), left.end(), 0u) > 0);
}

}  // namespace tlm::tests::in_atomic_file
