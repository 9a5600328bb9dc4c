// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include <tlm/parallel/threads.hpp>
#include <tlm/tlm.hpp>

#include "allocations.hpp"
#include "models.hpp"

/// Steps of training.
namespace steps {

/// How threads share the work of a batch: each takes some of its sequences, or, if there is but one, part of each product of
/// OpenBLAS.
struct Sharing {
  std::size_t threads, sequences;

  /// How many threads take sequences.
  std::size_t parts() const { return std::min(threads, sequences); }
  /// How many threads OpenBLAS has for a product.
  std::size_t in_blas() const { return threads / parts(); }
};

/// A model that learns from one batch again and again, by SGD.
template <class Model, class BatchOf>
class Steps {
 public:
  /// batch_for(model) is the batch.
  template <class BatchFor>
  Steps(const BatchFor& batch_for, std::size_t thread_count)
      : batch_{batch_for(*model_)}, sharing_{thread_count, tlm::sequence_count(batch_)}, threads_{sharing_.parts()} {
    openblas_set_num_threads(int(sharing_.in_blas()));
    run(2);
    allocations::begin();
    run(1);
    allocated_ = allocations::since();
  }

  void run(std::size_t times) {
    for (std::size_t k = 0; k < times; ++k) {
      tlm::set_to_zero(*gradient_);
      tlm::loss_and_gradient(*model_, shared_, *gradient_);
      sgd_(*model_, *gradient_);
    }
  }

  const Sharing& sharing() const { return sharing_; }
  /// What one step allocates, and how much memory there is at most.
  const allocations::Count& allocated() const { return allocated_; }

 private:
  tlm::Generator generator_{1};
  std::unique_ptr<Model> model_ = models::random_model<Model>(generator_), gradient_ = std::make_unique<Model>();
  BatchOf batch_;
  Sharing sharing_;
  tlm::Threads<Model> threads_;
  tlm::SharedBatch<tlm::Threads<Model>, BatchOf> shared_{threads_, batch_};
  tlm::SGD sgd_{1e-6};
  allocations::Count allocated_{};
};

}  // namespace steps
