// SPDX-License-Identifier: MIT
/// In head h the score of j grows by m_h·(j - i).
struct MyBias {
  using declared = tlm::is::Positional;

  tlm::Row<2> m;

  void add(std::size_t h, std::size_t i, auto s) const {
    for (std::size_t j = 0; j < s.size(); ++j) s[j] += m(0, h) * (float(j) - float(i));
  }

  void pull_back(std::size_t h, std::size_t i, const auto& s_bar, MyBias& gradient) const {
    for (std::size_t j = 0; j < s_bar.size(); ++j) gradient.m(0, h) += s_bar[j] * (float(j) - float(i));
  }

  static constexpr void weights(auto&& visit, auto&... bias) { visit(tlm::Name{"m"}, bias.m...); }
};

tlm::Attention<2, tlm::Causal, tlm::Times<"W_Q", 4, 4>, tlm::Times<"W_K", 4, 4>, tlm::Times<"W_V", 4, 4>, MyBias>
    attention;
