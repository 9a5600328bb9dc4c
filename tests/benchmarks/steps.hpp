// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

#include "models.hpp"

/// Steps of training, and what they allocate.
namespace steps {

/// What an action allocates by operator new, which allocations.cpp replaces. (OpenBLAS takes its buffers from the system
/// itself.)
struct Allocated {
  std::size_t matrices;  ///< Allocations at multiples of a cache line, like the entries of matrices.
  std::size_t others;    ///< Other allocations.
  std::size_t bytes;     ///< The maximum at the same time, with those from before.
};
Allocated allocated_by(const std::function<void()>& action);

/// A model that learns from one batch again and again, by SGD.
template <class Model>
class Steps {
 public:
  Steps(std::size_t count, std::size_t length, std::size_t thread_count)
      : batch_{models::random_batch(*model_, count, length)}, threads_{thread_count} {}

  void run(std::size_t times = 1) {
    for (std::size_t k = 0; k < times; ++k) {
      tlm::zero_grad(*gradient_);
      tlm::loss_and_gradient(*model_, shared_, *gradient_);
      sgd_(*model_, *gradient_);
    }
  }

  /// What a step allocates, after the first ones.
  Allocated allocated() {
    run(2);
    return allocated_by([&] { run(); });
  }

 private:
  using BatchOf = decltype(models::random_batch(Model{}, 1, 1));

  tlm::OneThreadPerProduct on_each_;
  tlm::Generator generator_{1};
  std::unique_ptr<Model> model_ = models::random_model<Model>(generator_), gradient_ = std::make_unique<Model>();
  BatchOf batch_;
  tlm::Threads<Model> threads_;
  tlm::SharedBatch<tlm::Threads<Model>, BatchOf> shared_{threads_, batch_};
  tlm::SGD sgd_{1e-6};
};

}  // namespace steps
