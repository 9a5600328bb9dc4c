// SPDX-License-Identifier: MIT
// Attention that the reader breaks, and what tlm::check says of it. With one key too many it is that of
// examples/break_the_mask.cpp, and the report is the same.

#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <examples/broken_mask.hpp>
#include <examples/finite_mask.hpp>
#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

#include "page.hpp"

namespace {

using namespace tlm;

inline constexpr std::size_t d = 3;

/// By what the scores are divided.
enum class Divisor : unsigned { root_d_head, root_n, one };
/// From where the positions count that are added to X.
enum class Counted : unsigned { not_at_all, from_the_left, from_the_right };

/// What the reader has changed.
struct Changes {
  unsigned future = 0;  ///< So many keys of the future are visible: 0, 1, 2, or all.
  unsigned minus = 0;   ///< 10 or 10⁹: all keys are visible, and this is subtracted from the scores of the future.
  Divisor divisor = Divisor::root_d_head;
  Counted positions = Counted::not_at_all;
} changes;

/// The mask as it is changed. It declares ◺, whatever it does.
struct Mask {
  using declared = is::LowerTriangular;
  static std::size_t visible(std::size_t i, std::size_t n_keys) {
    if (changes.minus > 0 || changes.future > 2) return n_keys;
    return changes.future == 0   ? Causal::visible(i, n_keys)
           : changes.future == 1 ? BrokenMask<1>::visible(i, n_keys)
                                 : BrokenMask<2>::visible(i, n_keys);
  }
};

/// A mask that is a number.
struct NumberAsMask : finite_mask::FiniteMask<10> {
  static void add(std::size_t h, std::size_t i, auto s) {
    if (changes.minus == 10) finite_mask::FiniteMask<10>::add(h, i, s);
    if (changes.minus > 10) finite_mask::FiniteMask<1'000'000'000>::add(h, i, s);
  }
};

/// X ↦ X·√d_head/c, where c is the divisor: queries times this, and scores are divided by c. It declares that it is rowwise.
template <class Real>
struct Divided {
  using declared = is::Rowwise;
  using domain = Matrix<n, d, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    if (changes.divisor == Divisor::root_d_head) return X;
    for (std::size_t s = 0; s < X.sequences().count(); ++s) {
      const Real c = changes.divisor == Divisor::one ? Real(1) : sqrt(Real(X.sequences().length(s)));
      const Real factor = sqrt(Real(d)) / c;
      for (std::size_t i = X.sequences().begin(s); i < X.sequences().end(s); ++i)
        for (std::size_t j = 0; j < d; ++j) X(i, j) *= factor;
    }
    return X;
  }
  /// A multiple of the identity is its own transpose.
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)), [](codomain Y_bar, Divided&) { return Divided{}(std::move(Y_bar)); });
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// X ↦ X + p, where row i of p is the number of its position. It declares that it is autoregressive.
template <class Real>
struct Numbered {
  using declared = is::Autoregressive;
  using domain = Matrix<n, d, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    State no_rows{};
    return extend(no_rows, std::move(X));
  }
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)), [](codomain Y_bar, Numbered&) { return Y_bar; });
  }

  using State = std::vector<std::size_t>;  // how many rows each sequence has so far
  codomain extend(State& state, domain X) const {
    const Sequences& sequences = X.sequences();
    state.resize(sequences.count());
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      std::size_t& so_far = state[s];
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) {
        ++so_far;
        if (changes.positions == Counted::not_at_all) continue;
        const std::size_t position = changes.positions == Counted::from_the_left ? so_far : sequences.end(s) - i;
        for (std::size_t j = 0; j < d; ++j) X(i, j) += Real(position);
      }
    }
    return X;
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// X ↦ (X + p)×W
template <Symbol letter, class Real>
using Linear = Composition<Times<letter, d, d, Real>, Numbered<Real>>;
template <class Real>
using Attending = Attention<1, Mask, Composition<Times<"W_Q", d, d, Real>, Divided<Real>, Numbered<Real>>,
                            Linear<"W_K", Real>, Linear<"W_V", Real>, NumberAsMask>;
static_assert(autoregressive<Attending<double>>);  // whatever is changed: the compiler believes what is declared

/// For each row of T(X), of six, the rows of X that it may depend on.
void append_dependencies() {
  constexpr std::size_t rows = 6;
  using checking::Dependencies;
  Generator generator{0};
  const auto layer = checking::draw_layer<Attending<Dependencies>>(generator);
  const auto Y = layer(checking::tagged(Sequences{rows}, d).as<Matrix<n, d, Dependencies>>());
  for (std::size_t i = 0; i < rows; ++i) {
    Dependencies seen(1);
    for (std::size_t j = 0; j < d; ++j) seen += Y(i, j);
    for (std::size_t r = 0; r < rows; ++r) page::numbers.push_back(double(seen.tags() >> r & 1));
  }
}

}  // namespace

/// Changes attention, and checks it: the report as text, and a 6×6 matrix of which rows each row may depend on.
extern "C" [[clang::export_name("check")]] void check_attention(unsigned future, unsigned minus, unsigned divisor,
                                                                unsigned positions) {
  changes = {future, minus, Divisor{divisor}, Counted{positions}};
  page::numbers.clear();
  append_dependencies();
  std::ostringstream out;
  out << tlm::check<Attending>("attention");
  page::text = out.str();
}
