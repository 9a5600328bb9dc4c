/// Says: in a product A×Bᵀ both matrices have as many columns
#include <tlm/matrix/product.hpp>

#ifdef WRONG
using W = tlm::Matrix<std::size_t{5}, 4>;
#else
using W = tlm::Matrix<std::size_t{5}, 3>;
#endif

auto product(const tlm::Matrix<tlm::n, 3>& X, const W& weights) { return X * transposed(weights); }
