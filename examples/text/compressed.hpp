// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#ifdef TLM_EXAMPLES_WITH_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifdef TLM_EXAMPLES_WITH_LZMA
#include <lzma.h>
#endif

/// To how many bytes other programs compress a text, computed by the libraries that these programs use.
namespace compressed {

/// Thrown if there is no such number: the program was built without the library, or there is too little memory.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Buffer = std::array<unsigned char, 1 << 16>;

/// The length of what `gzip -9` makes of some bytes that it reads from a pipe. Throws Unavailable.
inline double by_gzip([[maybe_unused]] std::string_view bytes) {
#ifdef TLM_EXAMPLES_WITH_ZLIB
  constexpr int gzip_format = 15 + 16, memory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, gzip_format, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Unavailable("there is not enough memory");
  Buffer out;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min<std::size_t>(bytes.size(), 1 << 30);
      stream.next_in = reinterpret_cast<const unsigned char*>(bytes.data());
      stream.avail_in = unsigned(next);
      bytes.remove_prefix(next);
    }
    stream.next_out = out.data();
    stream.avail_out = unsigned(out.size());
    state = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
  }
  const auto count = double(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) throw Unavailable("zlib fails with " + std::to_string(state));
  return count;
#else
  throw Unavailable("it was built without zlib (zlib1g-dev)");
#endif
}

/// The length of what `xz -9` makes of some bytes. Throws Unavailable.
inline double by_xz([[maybe_unused]] std::string_view bytes) {
#ifdef TLM_EXAMPLES_WITH_LZMA
  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_ret state = lzma_easy_encoder(&stream, 9, LZMA_CHECK_CRC64);
  stream.next_in = reinterpret_cast<const unsigned char*>(bytes.data());
  stream.avail_in = bytes.size();
  Buffer out;
  while (state == LZMA_OK) {
    stream.next_out = out.data();
    stream.avail_out = out.size();
    state = lzma_code(&stream, LZMA_FINISH);
  }
  const auto count = double(stream.total_out);
  lzma_end(&stream);
  if (state == LZMA_MEM_ERROR) throw Unavailable("there is not enough memory");
  if (state != LZMA_STREAM_END) throw Unavailable("liblzma fails with " + std::to_string(state));
  return count;
#else
  throw Unavailable("it was built without liblzma (liblzma-dev)");
#endif
}

}  // namespace compressed
