// SPDX-License-Identifier: Apache-2.0
// Addresses and vectors of elements, as the kernels that are not loops around a
// Nest compute them. All offsets count elements.
#pragma once

#include <functional>

#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/kernel_function.h"

namespace mxc::contraction {

// Elements of an operand. Registers hold f16 and bf16 as f32.
class ElementMemory {
 public:
  ElementMemory(KernelFunction& kernel, DType dtype, int lanes)
      : kernel_(kernel), dtype_(dtype), lanes_(lanes) {}

  llvm::Value* Advance(llvm::Value* base, llvm::Value* index,
                       int64_t stride) const {
    return kernel_.ElementAddress(
        base, kernel_.b().CreateNSWMul(index, kernel_.Int(stride)),
        SizeOf(dtype_));
  }
  llvm::Value* At(llvm::Value* base, int64_t offset) const {
    return kernel_.ElementAddress(base, kernel_.Int(offset), SizeOf(dtype_));
  }
  llvm::Value* LoadVector(llvm::Value* address) const {
    return LoadElements(kernel_, address, dtype_, lanes_);
  }
  void StoreVector(llvm::Value* value, llvm::Value* address) const {
    StoreElements(kernel_, value, address, dtype_);
  }

 private:
  KernelFunction& kernel_;
  const DType dtype_;
  const int lanes_;
};

// Elements of the type of the sums, of which scratch and packed weights are.
class FlatMemory {
 public:
  // `dtype`: f32 or f64.
  FlatMemory(KernelFunction& kernel, DType dtype, int lanes)
      : kernel_(kernel),
        b_(kernel.b()),
        vector_type_(kernel.VectorOf(kernel.MemoryType(dtype), lanes)),
        sums_(kernel, dtype, lanes) {}

 protected:
  llvm::Value* Least(llvm::Value* a, llvm::Value* b) {
    return b_.CreateSelect(b_.CreateICmpSLT(a, b), a, b);
  }
  llvm::Value* Times(llvm::Value* a, int64_t b) {
    return b_.CreateMul(a, kernel_.Int(b), "", true, true);
  }
  llvm::Value* Plus(llvm::Value* a, llvm::Value* b) {
    return b_.CreateAdd(a, b, "", true, true);
  }
  llvm::Value* Advance(llvm::Value* base, llvm::Value* index, int64_t stride) {
    return sums_.Advance(base, index, stride);
  }
  llvm::Value* At(llvm::Value* base, int64_t offset) {
    return sums_.At(base, offset);
  }
  llvm::Value* LoadVector(llvm::Value* address) {
    return sums_.LoadVector(address);
  }
  void StoreVector(llvm::Value* value, llvm::Value* address) {
    sums_.StoreVector(value, address);
  }
  // Asks for the address's line in the second cache.
  void Fetch(llvm::Value* address, bool to_write) {
    constexpr int kSecondCache = 2, kData = 1;
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::prefetch,
                       {address, b_.getInt32(to_write ? 1 : 0),
                        b_.getInt32(kSecondCache), b_.getInt32(kData)});
  }
  // Runs `fill` unless the scratch holds what it has filled it with for the
  // same number, in this run of the step (runtime/abi/abi.h).
  void FillOnce(llvm::Value* number, const std::function<void()>& fill) {
    llvm::Value* note = Plus(number, kernel_.Int(1));
    llvm::Value* found =
        b_.CreateLoad(b_.getInt64Ty(), kernel_.scratch(), "note");
    kernel_.If(b_.CreateICmpNE(found, note), [&] {
      fill();
      b_.CreateStore(note, kernel_.scratch());
    });
  }
  // extent · i / n, where the i-th of n nearly equal parts begins.
  llvm::Value* Part(llvm::Value* i, int64_t n, int64_t extent) {
    return n == extent ? i : b_.CreateUDiv(Times(i, extent), kernel_.Int(n));
  }

  KernelFunction& kernel_;
  KernelFunction::Builder& b_;
  llvm::Type* const vector_type_;
  const ElementMemory sums_;
};

}  // namespace mxc::contraction
