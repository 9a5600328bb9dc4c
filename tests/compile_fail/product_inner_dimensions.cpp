/// Says: in a product A×B the matrix A has as many columns as B has rows
#include <tlm/matrix/product.hpp>

#ifdef WRONG
using W = tlm::Matrix<std::size_t{4}, 5>;
#else
using W = tlm::Matrix<std::size_t{3}, 5>;
#endif

auto product(const tlm::Matrix<tlm::n, 3>& X, const W& weights) { return X * weights; }
