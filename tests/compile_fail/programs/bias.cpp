// SPDX-License-Identifier: MIT
/// In head h the score of j grows by m_h·(j - i).
struct MyBias {
  using declared = tlm::is::Positional;

  tlm::Row<2> m;

  void add(std::size_t h, std::size_t i, float* s, std::size_t visible) const {
    for (std::size_t j = 0; j < visible; ++j) s[j] += m(0, h) * (float(j) - float(i));
  }

  void pull_back(std::size_t h, std::size_t i, const float* s_bar, std::size_t visible, MyBias& gradient) const {
    for (std::size_t j = 0; j < visible; ++j) gradient.m(0, h) += s_bar[j] * (float(j) - float(i));
  }

  static constexpr void weights(auto&& visit, auto&... bias) { visit(tlm::Name{"m"}, bias.m...); }
};

tlm::Attention<2, tlm::Causal, tlm::Times<"W_Q", 4, 4>, tlm::Times<"W_K", 4, 4>, tlm::Times<"W_V", 4, 4>, MyBias>
    attention;
