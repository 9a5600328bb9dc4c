// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

#include "allocations.hpp"
#include "models.hpp"

/// Steps of training.
namespace steps {

/// A model that learns from one batch again and again, by SGD.
template <class Model>
class Steps {
 public:
  Steps(std::size_t count, std::size_t length, std::size_t thread_count)
      : batch_{models::random_batch(*model_, count, length)}, threads_{thread_count} {
    run(2);
    allocations::begin();
    run(1);
    allocated_ = allocations::since();
  }

  void run(std::size_t times) {
    for (std::size_t k = 0; k < times; ++k) {
      tlm::zero_grad(*gradient_);
      tlm::loss_and_gradient(*model_, shared_, *gradient_);
      sgd_(*model_, *gradient_);
    }
  }

  /// What one step allocates, and how much memory there is at most.
  const allocations::Count& allocated() const { return allocated_; }

 private:
  using BatchOf = decltype(models::random_batch(std::declval<const Model&>(), 1, 1));

  tlm::OneThreadPerProduct on_each_;
  tlm::Generator generator_{1};
  std::unique_ptr<Model> model_ = models::random_model<Model>(generator_), gradient_ = std::make_unique<Model>();
  BatchOf batch_;
  tlm::Threads<Model> threads_;
  tlm::SharedBatch<tlm::Threads<Model>, BatchOf> shared_{threads_, batch_};
  tlm::SGD sgd_{1e-6};
  allocations::Count allocated_{};
};

}  // namespace steps
