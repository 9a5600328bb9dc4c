// SPDX-License-Identifier: MIT
/// Says: the blocks of columns that are remembered have the same width
/// Names: RowsSoFar
#include <tlm/matrix/rows_so_far.hpp>

#ifdef WRONG
tlm::RowsSoFar<5, 2, float> rows;
#else
tlm::RowsSoFar<6, 2, float> rows;
#endif

std::size_t count() { return rows.sequences().count(); }
