// SPDX-License-Identifier: MIT
/// In head h the score of j grows by m_h·(j - i).
struct MyBias {
  using declared = tlm::is::Positional;

  tlm::Row<2> m;

  void add(std::size_t h, std::size_t i, auto s) const { s += m(0, h) * (xt::arange<float>(s.size()) - float(i)); }

  void pull_back(std::size_t h, std::size_t i, const auto& s_bar, MyBias& gradient) const {
    gradient.m(0, h) += tlm::sum_of(s_bar * (xt::arange<float>(s_bar.size()) - float(i)));
  }

  static constexpr void weights(auto&& visit, auto& bias) { visit("m", bias.m); }
};

tlm::Attention<2, tlm::Causal, tlm::Times<"W_Q", 4, 4>, tlm::Times<"W_K", 4, 4>, tlm::Times<"W_V", 4, 4>, MyBias>
    attention;
