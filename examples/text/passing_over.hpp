// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/text/byte_pairs.hpp>

/// Other tokens of the same text: each pair is passed over with this probability. With 0 the tokens are those of
/// BytePairs::encode, and with 1 they are bytes. A model that learns from a text that is split anew each time does not
/// learn its tokens by heart. (BPE-dropout: Provilkov, Emelianenko, Voita, 2020. There a pair that was passed over is
/// tried again after the next merge, and here never.) Throws std::invalid_argument for another probability than from 0
/// to 1.
template <std::size_t vocab_size>
std::vector<tlm::Token> passing_over(const tlm::BytePairs<vocab_size>& pairs, std::string_view text, double probability,
                                     tlm::Generator& generator) {
  if (!(probability >= 0 && probability <= 1))
    tlm::refuse<std::invalid_argument>({"a pair is passed over with a probability from 0 to 1, not ", probability});
  constexpr tlm::Token none = std::numeric_limits<tlm::Token>::max();
  struct Place {
    tlm::Token token, made;  // by the merge of this token and the next one, or none
  };
  const auto made_of = [&](tlm::Token left, tlm::Token right) {
    const auto made = pairs.merged(left, right);
    return made && !(generator.uniform() < probability) ? *made : none;
  };
  const auto is_earlier = [](const Place& a, const Place& b) { return a.made < b.made; };
  std::vector<tlm::Token> tokens;
  for (std::string_view piece; !text.empty(); text.remove_prefix(piece.size())) {
    std::vector<Place> places;
    for (const char byte : piece = tlm::first_piece(text)) {
      const tlm::Token token = static_cast<unsigned char>(byte);
      if (!places.empty()) places.back().made = made_of(places.back().token, token);
      places.push_back({token, none});
    }
    for (;;) {
      const tlm::Token made = std::min_element(places.begin(), places.end(), is_earlier)->made;
      if (made == none) break;
      std::vector<Place> merged;
      for (std::size_t p = 0; p < places.size(); ++p) {
        if (places[p].made != made) {
          merged.push_back(places[p]);
        } else {
          if (!merged.empty()) merged.back().made = made_of(merged.back().token, made);
          ++p;
          merged.push_back({made, p + 1 < places.size() ? made_of(made, places[p + 1].token) : none});
        }
      }
      places = std::move(merged);
    }
    for (const Place& place : places) tokens.push_back(place.token);
  }
  return tokens;
}
