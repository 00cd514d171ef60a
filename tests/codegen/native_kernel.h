// SPDX-License-Identifier: Apache-2.0
// Compiles one kernel, loads it into this process, or one that emulates another
// processor (other_processor.h), and calls it on memory that is fenced by pages
// without access, or at least shared with that process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/session.h"
#include "ir/target/target.h"
#include "tests/support/levels.h"

namespace mxc::test {

// Of a target that cannot run here there is the code alone.
class NativeKernel {
 public:
  NativeKernel(const Target& target, WriteKernel write,
               bool keep_assembly = false);
  NativeKernel(const Target& target, int operands,
               std::function<void(KernelFunction&)> emit,
               bool keep_assembly = false)
      : NativeKernel(target, WriterOf(std::move(emit), operands, target),
                     keep_assembly) {}
  ~NativeKernel();
  NativeKernel(const NativeKernel&) = delete;

  // Tasks begin ≤ t < end in one call, on operands of FencedFloats or
  // KernelVectors.
  void Run(const std::vector<void*>& operands, int64_t begin, int64_t end,
           void* scratch = nullptr) const;
  // A call for each task, from the first to the last or from the last.
  enum class Order { kForwards, kBackwards };
  void RunEach(const std::vector<void*>& operands, int64_t tasks, Order order,
               void* scratch = nullptr) const;
  const std::string& assembly() const { return assembly_; }
  size_t object_bytes() const { return object_bytes_; }

 private:
  using Kernel = void (*)(void* const*, int64_t, int64_t, void*);
  void Call(const std::vector<void*>& operands, int64_t begin, int64_t end,
            int64_t step, void* scratch) const;
  const std::string target_;
  void* library_ = nullptr;
  Kernel kernel_ = nullptr;
  int number_ = -1;  // of another processor's
  std::string assembly_;
  size_t object_bytes_ = 0;
};

// Memory in which kernels reach their operands, wherever they run.
std::byte* MapForKernels(size_t bytes);
void UnmapForKernels(std::byte* memory, size_t bytes);

template <class T>
struct KernelAllocator {
  using value_type = T;
  KernelAllocator() = default;
  template <class U>
  explicit(false) KernelAllocator(const KernelAllocator<U>&) {}
  T* allocate(size_t count) {
    return reinterpret_cast<T*>(MapForKernels(count * sizeof(T)));
  }
  void deallocate(T* memory, size_t count) {
    UnmapForKernels(reinterpret_cast<std::byte*>(memory), count * sizeof(T));
  }
  friend bool operator==(KernelAllocator, KernelAllocator) { return true; }
};
template <class T>
using KernelVector = std::vector<T, KernelAllocator<T>>;

// Floats that end where a page without access begins, or start where one ends;
// the rest of the mapping is filled with a pattern that must not change.
class FencedFloats {
 public:
  enum class Fence { kAfter, kBefore };
  FencedFloats(size_t count, Fence fence);
  ~FencedFloats();
  FencedFloats(const FencedFloats&) = delete;

  float* data() const { return data_; }
  size_t size() const { return count_; }
  bool PatternIntact() const;

 private:
  std::byte* mapping_;
  size_t mapped_bytes_, usable_bytes_, count_;
  float* data_;
};

}  // namespace mxc::test
