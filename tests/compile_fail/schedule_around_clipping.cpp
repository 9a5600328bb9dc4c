// SPDX-License-Identifier: MIT
/// Says: a schedule sets the learning_rate of an optimizer, which this has not: what wraps an optimizer goes around it, as in Clipped{Scheduled{Adam, schedule}}
/// Names: Clipped
#include <tlm/layers/embedding.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/schedules.hpp>

using Model = tlm::Embedding<11, 3>;

void use(Model& model, Model& gradient) {
#ifdef WRONG
  tlm::Scheduled optimizer{tlm::Clipped{tlm::Adam<Model>{}, 1.0}, tlm::WarmUp{}};
#else
  tlm::Clipped optimizer{tlm::Scheduled{tlm::Adam<Model>{}, tlm::WarmUp{}}, 1.0};
#endif
  optimizer(model, gradient);
}
