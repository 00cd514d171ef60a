// SPDX-License-Identifier: Apache-2.0
// Products of one row of f32 with weights of 4 bits (ir/program/int4_blocks.h)
// by an instruction that multiplies bytes. The elements of each group of inputs
// become integers of 24 bits with one exponent, of three digits:
//
//   x[i] ≈ scale · (d0[i] + 256 · d1[i] + 65536 · d2[i]),   −128 ≤ d ≤ 127
//
// They are off by 2^-23 of the group's largest element at most, less than what
// additions of f32 round. Sums of digits times weights are exact. A row of which
// an element is not finite becomes NaN, where it is multiplied with that group.
#pragma once

#include <cstdint>

#include "codegen/cpu/contraction/flat_memory.h"
#include "codegen/cpu/contraction/micro_kernel.h"
#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/cpu_machine.h"
#include "ir/program/steps/contraction.h"

namespace mxc::contraction {

// Returns whether a kernel can compute it so.
bool TakesDigitPlanes(const CpuMachine& machine, const Contraction& c);
int64_t DigitPlaneScratch(const Contraction& c);

// The digits of a row, in scratch: for each group
//
//   f32 scale; i32 start[3]: what weights' zero point adds to a plane's sums
//   i8 digits[3][2][group / 2]: of inputs that are the lower bits of bytes, then
//   of those that are the upper ones
class DigitPlanes : private FlatMemory {
 public:
  DigitPlanes(KernelFunction& kernel, const Nest& nest);

  // The address of the row's, which are made unless they are there.
  llvm::Value* Of(llvm::Value* row);

 private:
  void WriteGroup(llvm::Value* elements, llvm::Value* digits);
  void WritePlane(llvm::Value* bytes, int plane, llvm::Value* digits);
  llvm::Value* NumbersOf(llvm::Value* elements, llvm::Value* to);
  llvm::Value* ByteAt(llvm::Value* base, int64_t offset) {
    return kernel_.ElementAddress(base, kernel_.Int(offset), 1);
  }

  const int64_t group_, groups_;
};

// Vectors of sums that are computed at once: two panels'.
inline constexpr int kPlaneVectors = 4;

// Their sums over `groups` groups, f32. `panels`: the first weights of each,
// behind the first group's levels; `ahead`: how far on
// weights that are widened would be fetched, bytes, or null: none are.
struct PlaneSource {
  llvm::Value* panels[2];
  llvm::Value *digits, *groups, *ahead;
};
MicroKernel::Accumulators DigitPlaneSums(KernelFunction& kernel,
                                         const Nest& nest,
                                         const PlaneSource& source);

}  // namespace mxc::contraction
