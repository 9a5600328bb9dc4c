// SPDX-License-Identifier: MIT
/// Says: a vocabulary of byte pairs holds 256 bytes and 3 tokens that no text makes: 259 at least
/// Names: HoldsBytes<256>
#include <tlm/text/byte_pairs.hpp>

#ifdef WRONG
using Pairs = tlm::BytePairs<256>;
#else
using Pairs = tlm::BytePairs<259>;
#endif

std::string again(const std::string& text) {
  const auto pairs = Pairs::learned(text);
  return pairs.decode(pairs.encode(text)) + Pairs::from_list(pairs.list()).list();
}
