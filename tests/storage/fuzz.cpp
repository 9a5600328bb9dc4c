// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/storage/header.hpp>

// For libFuzzer: one byte that says how many bytes of numbers follow, and then a header. Either it is refused with a
// sentence, or what was read from it is valid, and can be written and read again.
using namespace tlm::storage;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint64_t bytes = data[0];
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  Header header;
  try {
    header = read_header("fuzz", text, bytes);
  } catch (const std::runtime_error&) {
    return 0;
  }
  std::vector<Tensor> tensors;
  std::vector<int> owners(bytes);
  bool all_known = true;
  const std::vector<std::byte> numbers(bytes);
  for (const auto& [name, entry] : header.tensors) {
    require(entry.begin <= entry.end && entry.end <= bytes);
    if (std::uint64_t bits = bits_of(entry.type); bits > 0) {
      for (const std::uint64_t number : entry.shape) bits *= number;
      require(bits == 8 * (entry.end - entry.begin));
    } else {
      all_known = false;
    }
    for (std::uint64_t place = entry.begin; place < entry.end; ++place) ++owners[place];
    tensors.push_back(
        {name, entry.type, entry.shape, std::span{numbers}.subspan(entry.begin, entry.end - entry.begin)});
  }
  for (const int count : owners) require(count == 1);
  if (!all_known) return 0;  // a type that is not known is read, and not written

  const std::string written = written_header(tensors, header.metadata);
  const Header again = read_header("fuzz", written, bytes);
  require(written.size() % 8 == 0 && again.metadata == header.metadata &&
          again.tensors.size() == header.tensors.size());
  for (const auto& [name, entry] : header.tensors) {
    const Entry& other = again.tensors.at(name);
    require(other.type == entry.type && other.shape == entry.shape &&
            other.end - other.begin == entry.end - entry.begin);
  }
  return 0;
}
