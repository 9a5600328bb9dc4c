/// Says: the rows of a Matrix are n or a std::size_t, as in Matrix<std::size_t{2}, 3>
#include <tlm/matrix/matrix.hpp>

#ifdef WRONG
tlm::Matrix<2, 3> X;
#else
tlm::Matrix<std::size_t{2}, 3> X;
#endif
