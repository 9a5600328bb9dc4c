// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include <tlm/base/language.hpp>

namespace tlm {

/// Whether this process is one of several that mpirun, mpiexec or srun has started: they say so in the environment, each
/// in its own words (Open MPI's, Hydra's of MPICH, and PMIx's).
inline bool started_as_a_rank() {
  const std::initializer_list<const char*> words{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  return std::any_of(words.begin(), words.end(), [](const char* word) { return std::getenv(word) != nullptr; });
}

}  // namespace tlm
