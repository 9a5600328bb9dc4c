// SPDX-License-Identifier: MIT
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "steps.hpp"

namespace {

std::atomic<std::size_t> matrices = 0, others = 0, bytes = 0, most = 0;

// A block's size, as the allocator reports it. When tcmalloc is first asked, it allocates a block for its answers, with
// the operator new below. That block is never freed. It is not counted, because asking for its size would allocate
// another one.
std::size_t size_of(void* block) {
  thread_local bool asking = false;
  if (asking) return 0;
  asking = true;
  const std::size_t size = malloc_usable_size(block);
  asking = false;
  return size;
}

void* counted(void* block, std::atomic<std::size_t>& kind) {
  if (!block) throw std::bad_alloc{};
  ++kind;
  const std::size_t now = bytes += size_of(block);
  for (std::size_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
  }
  return block;
}

}  // namespace

steps::Allocated steps::allocated_by(const std::function<void()>& action) {
  matrices = others = 0;
  most = bytes.load();
  action();
  return {matrices, others, most};
}

void* operator new(std::size_t size) { return counted(std::malloc(size), others); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto multiple = std::size_t(alignment);
  return counted(std::aligned_alloc(multiple, (size + multiple - 1) / multiple * multiple), matrices);
}
void operator delete(void* block) noexcept {
  bytes -= size_of(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete(void* block, std::align_val_t) noexcept { operator delete(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { operator delete(block); }
