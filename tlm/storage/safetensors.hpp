// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/base/version.hpp>
#include <tlm/storage/atomic_file.hpp>
#include <tlm/storage/header.hpp>

/// Weights to and from safetensors files, by the names of the book.
namespace tlm::storage {

/// A version of the library, such as "0.1.0" for 100.
inline std::string version_text(std::uint64_t version = TLM_VERSION) {
  return detail::sentence({version / 10000, ".", version / 100 % 100, ".", version % 100});
}

/// Adds a text of the library's own to metadata. Throws std::invalid_argument if there is another text of this name.
inline void add_text(Metadata& metadata, const std::string& name, const std::string& text) {
  const auto [place, is_new] = metadata.emplace(name, text);
  if (!is_new && place->second != text)
    refuse<std::invalid_argument>({in_quotes(name), " is ", in_quotes(text), ", and cannot be ",
                                   in_quotes(place->second), " too: the library has texts of this name"});
}

/// Writes tensors and metadata as a safetensors file, whole or not at all (AtomicFile). It adds "format", which is
/// "tlm", and "tlm_version" to the metadata. Wider numbers come first, so that each is at a multiple of its width.
/// Otherwise the order is the list's.
///
/// Throws std::invalid_argument for what a file cannot hold, such as two tensors of one name, and for other texts by those
/// two names. Throws std::system_error if the file cannot be written, or if it exists and is to be refused. Then the old
/// file stays as it was.
inline void write(const std::filesystem::path& path, std::vector<Tensor> tensors, Metadata metadata = {},
                  Existing existing = Existing::replaced) {
  add_text(metadata, "format", "tlm");
  add_text(metadata, "tlm_version", version_text());
  std::uint64_t size = 0;
  for (const Tensor& tensor : tensors) {
    if (bits_of(tensor.type) == 0)
      refuse<std::invalid_argument>({in_quotes(tensor.name), " is of the type ", in_quotes(tensor.type),
                                     ", which is not known: it is not stored"});
    size += tensor.bytes.size();
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Tensor& a, const Tensor& b) { return bits_of(a.type) > bits_of(b.type); });

  const std::string header = written_header(tensors, metadata);
  const std::uint64_t length = header.size();
  try {  // What no reader would accept is not written.
    require_length(path.string(), length, 8 + length + size);
    read_header(path.string(), header, size);
  } catch (const std::runtime_error& refused) {
    throw std::invalid_argument(refused.what());
  }
  AtomicFile file{path, existing};
  file.write(std::as_bytes(std::span{&length, 1}));
  file.write(std::as_bytes(std::span{header}));
  for (const Tensor& tensor : tensors) file.write(tensor.bytes);
  file.commit();
}

/// A safetensors file that is open for reading. Its numbers are read only on request.
class SafetensorsFile {
 public:
  /// Throws std::system_error if it cannot be read, and std::runtime_error if any rule of the format is broken.
  explicit SafetensorsFile(const std::filesystem::path& path)
      // Do not wait for a pipe that nobody writes to.
      : name_{shown(path.string())}, file_{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {
    struct stat status {};
    if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0) fail("cannot read " + name_);
    if (S_ISDIR(status.st_mode)) fail("cannot read " + name_, EISDIR);
    if (!S_ISREG(status.st_mode)) fail("cannot read " + name_ + ", which is no regular file", EINVAL);
    const auto size = std::uint64_t(status.st_size);
    std::uint64_t length = 0;
    if (size >= 8) read(0, std::as_writable_bytes(std::span{&length, 1}));
    require_length(name_, length, size);
    std::string text(length, ' ');
    read(8, std::as_writable_bytes(std::span{text}));
    begin_ = 8 + length;
    header_ = read_header(name_, text, size - begin_);
  }

  /// The type, shape and place of all tensors, by name.
  const std::map<std::string, Entry>& tensors() const { return header_.tensors; }
  /// The texts of the metadata.
  const Metadata& metadata() const { return header_.metadata; }

  /// The text of this name in the metadata. Throws std::runtime_error if there is none.
  const std::string& text(const std::string& key) const {
    const auto found = metadata().find(key);
    if (found == metadata().end()) refuse("it does not say its " + in_quotes(key));
    return found->second;
  }

  /// Throws std::runtime_error unless the metadata has these texts by these names. It may have others.
  void require_metadata(const Metadata& expected) const {
    for (const auto& [key, wanted] : expected)
      if (text(key) != wanted)
        refuse("its " + in_quotes(key) + " is " + in_quotes(text(key)) + ", and should be " + in_quotes(wanted));
  }

  /// Throws std::runtime_error if a newer version of the library has written the file, by its "tlm_version".
  void require_no_newer_version() const {
    const std::string& version = text("tlm_version");
    unsigned major = 0, minor = 0, patch = 0;
    std::sscanf(version.c_str(), "%4u.%4u.%4u", &major, &minor, &patch);
    const std::uint64_t number = 10000 * std::uint64_t{major} + 100 * minor + patch;
    if (version_text(number) != version) refuse("its \"tlm_version\" is " + in_quotes(version) + ", which is none");
    if (number > TLM_VERSION)
      refuse("tlm " + version + " has written it, which is newer than this one, " + version_text());
  }

  /// Throws std::runtime_error if the file has a tensor that is not in the list, and whose name begins with the prefix.
  void require_nothing_but(const std::vector<Place>& places, std::string_view prefix = "") const {
    for (const auto& [name, entry] : tensors())
      if (name.starts_with(prefix) && std::ranges::find(places, name, &Place::name) == places.end())
        refuse("what it is read into has no " + in_quotes(name) + ", " + described(entry));
  }

  /// Reads all of the list, or changes nothing. Throws std::runtime_error if a tensor of the list is not in the file or
  /// has another type or shape there, std::invalid_argument if a place has room for more or fewer bytes, and
  /// std::system_error if the file cannot be read. Until all is read, a second copy is in memory.
  void read(const std::vector<Place>& places) const {
    for (const Place& place : places) {
      const auto found = tensors().find(place.name);
      if (found == tensors().end()) refuse("there is no " + in_quotes(place.name) + ", " + described(place));
      const Entry& entry = found->second;
      if (entry.type != place.type || entry.shape != place.shape)
        refuse(in_quotes(place.name) + " is " + described(entry) + ", and should be " + described(place));
      if (place.bytes.size() != entry.end - entry.begin)
        tlm::refuse<std::invalid_argument>({in_quotes(place.name), " has ", entry.end - entry.begin,
                                            " bytes, and what it is read into ", place.bytes.size()});
    }
    std::vector<std::vector<std::byte>> copies;
    for (const Place& place : places)
      read(begin_ + tensors().at(place.name).begin, copies.emplace_back(place.bytes.size()));
    for (std::size_t k = 0; k < places.size(); ++k)
      std::copy(copies[k].begin(), copies[k].end(), places[k].bytes.begin());
  }

 protected:
  /// Throws std::runtime_error with the file and the reason.
  [[noreturn]] void refuse(const std::string& why) const { refuse_file(name_, {why}); }

 private:
  /// Fills `bytes` with the bytes of the file from this offset on. Throws std::system_error if it cannot, and
  /// std::runtime_error if the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pread(file_.number(), bytes.data(), bytes.size(), off_t(offset));
      if (count == 0) tlm::refuse<std::runtime_error>({name_, " has become shorter while it was read"});
      if (count < 0 && errno != EINTR) fail("cannot read " + name_);
      if (count < 0) continue;
      bytes = bytes.subspan(std::size_t(count));
      offset += std::uint64_t(count);
    }
  }

  std::string name_;  // as a sentence shows it
  Descriptor file_;
  std::uint64_t begin_ = 0;  // of the numbers
  Header header_;
};

/// Writes the weights of a model, each under its path, with its shape [rows, columns] and in the model's numbers. Paths
/// and shapes do not tell everything, such as the number of heads. The program puts the rest into `configuration`, in
/// words of its own: {{"n_heads", "2"}, …}. Throws like write.
template <class Layer>
void save_weights(const std::filesystem::path& path, const Layer& model, const Metadata& configuration = {}) {
  std::vector<Tensor> list;
  add_weights(list, model);
  write(path, std::move(list), configuration);
}

/// Reads the weights of a model from a file that has exactly these, by path, shape and type of numbers, and this
/// configuration. The file may have further texts. Otherwise the model stays as it was, and this throws what
/// SafetensorsFile throws.
template <class Layer>
void load_weights(const std::filesystem::path& path, Layer& model, const Metadata& configuration = {}) {
  const SafetensorsFile file{path};
  std::vector<Place> list;
  add_weights(list, model);
  file.require_metadata(configuration);
  file.require_nothing_but(list);
  file.read(list);
}

}  // namespace tlm::storage
