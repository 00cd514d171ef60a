// SPDX-License-Identifier: Apache-2.0
// Compiles one kernel, loads it into this process, or one that emulates another
// processor (other_processor.h), and calls it on memory that is fenced by pages
// without access.
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

  void Run(const std::vector<void*>& operands, int64_t begin, int64_t end,
           void* scratch = nullptr) const;
  const std::string& assembly() const { return assembly_; }
  size_t object_bytes() const { return object_bytes_; }

 private:
  using Kernel = void (*)(void* const*, int64_t, int64_t, void*);
  void* library_ = nullptr;
  Kernel kernel_ = nullptr;
  int number_ = -1;  // of another processor's
  std::string assembly_;
  size_t object_bytes_ = 0;
};

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
