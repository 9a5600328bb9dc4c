/// Says: a block has at least one row
#include <tlm/matrix/visible.hpp>

#ifdef WRONG
constexpr std::size_t block = 0;
#else
constexpr std::size_t block = 1;
#endif

std::size_t visible(const tlm::VisibleMatrices<1, tlm::Causal, float, block>& A) { return A.visible(0, 0); }
