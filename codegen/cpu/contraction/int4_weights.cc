// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/int4_weights.h"

#include <utility>
#include <vector>

#include "codegen/cpu/contraction/dot_unit.h"
#include "codegen/cpu/contraction/micro_kernel.h"
#include "ir/program/int4_blocks.h"

namespace mxc::contraction {
namespace {

constexpr int kBits = 4, kValues = 16;

// Bytes as integers of 32 bits.
llvm::Value* LoadBytes(KernelFunction& kernel, llvm::Value* address,
                       int lanes) {
  KernelFunction::Builder& b = kernel.b();
  llvm::Value* bytes = b.CreateAlignedLoad(
      kernel.VectorOf(b.getInt8Ty(), lanes), address, llvm::Align(1));
  return b.CreateZExt(bytes, kernel.VectorOf(b.getInt32Ty(), lanes));
}

llvm::Value* Centred(KernelFunction& kernel, llvm::Value* values, int zero,
                     int lanes, DType dtype) {
  KernelFunction::Builder& b = kernel.b();
  llvm::Value* centred = b.CreateSub(
      values,
      llvm::ConstantInt::get(values->getType(), static_cast<uint64_t>(zero)));
  return b.CreateSIToFP(centred,
                        kernel.VectorOf(kernel.ValueType(dtype), lanes));
}

// One instruction that looks 16 lanes up at once, by the lowest four bits of
// each, in place of three that compute them.
bool LooksUp(const KernelFunction& kernel, int lanes, DType dtype) {
  return kernel.target().isa == "avx512" && lanes == kValues &&
         dtype == DType::kF32;
}

llvm::Value* Table(KernelFunction& kernel) {
  std::vector<llvm::Constant*> values;
  for (int bits = 0; bits < kValues; ++bits) {
    values.push_back(llvm::ConstantFP::get(
        kernel.b().getFloatTy(), static_cast<double>(bits - kInt4Zero)));
  }
  return llvm::ConstantVector::get(values);
}

}  // namespace

llvm::Value* LoadInt4(KernelFunction& kernel, llvm::Value* address, int lanes,
                      bool upper, DType dtype) {
  KernelFunction::Builder& b = kernel.b();
  llvm::Value* words = LoadBytes(kernel, address, lanes);
  if (upper) words = b.CreateLShr(words, uint64_t{kBits});
  if (LooksUp(kernel, lanes, dtype)) {
    return b.CreateIntrinsic(kernel.VectorOf(b.getFloatTy(), lanes),
                             llvm::Intrinsic::x86_avx512_permvar_sf_512,
                             {Table(kernel), words});
  }
  if (!upper) words = b.CreateAnd(words, uint64_t{kValues - 1});
  return Centred(kernel, words, kInt4Zero, lanes, dtype);
}

llvm::Value* LoadInt4Level(KernelFunction& kernel, llvm::Value* address,
                           int lanes, DType dtype) {
  return Centred(kernel, LoadBytes(kernel, address, lanes), kInt4LevelZero,
                 lanes, dtype);
}

// The sums of each group are multiplied with its level.
MicroKernel::Carried MicroKernel::GroupLoop(const Steps& steps,
                                            const Range& groups,
                                            const Source& source,
                                            Carried carried) {
  return kernel_.Loop(
      groups.first, groups.end, 1, std::move(carried),
      [&](llvm::Value* i, const Carried& total) {
        const Source inner = Advanced(steps, 0, i, source);
        const Accumulators sums =
            StepLoops(steps, 1, AllOf(steps.axes[1].extent), inner, Zeros());
        KernelFunction::Builder& b = kernel_.b();
        llvm::FastMathFlags flags;
        flags.setAllowContract();
        llvm::IRBuilderBase::FastMathFlagGuard guard(b);
        b.setFastMathFlags(flags);
        Accumulators levels;
        for (int v = 0; v < shape_.vectors; ++v) {
          levels.push_back(LoadInt4Level(
              kernel_,
              At(inner.weight, VectorOffset(v) - nest_.panel_width(),
                 DType::kU8),
              LanesOf(v), nest_.types.sum));
        }
        Carried next;
        for (size_t k = 0; k < total.size(); ++k) {
          next.push_back(PlusProduct(kernel_, total[k], sums[k],
                                     levels[k % shape_.vectors]));
        }
        return next;
      });
}

}  // namespace mxc::contraction
