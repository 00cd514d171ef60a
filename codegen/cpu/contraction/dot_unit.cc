// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/dot_unit.h"

#include <algorithm>
#include <vector>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/llvm/arithmetic.h"
#include "ir/support/check.h"

namespace mxc::contraction {
namespace {

constexpr struct {
  std::string_view algorithm;
  int channels;
} kDots[] = {{kPairs, 2}, {kQuads, 4}};

// Of each lane's channels, the i-th, in the type of the sums.
llvm::Value* ChannelOf(KernelFunction& kernel, llvm::Value* dots, int i,
                       DType dtype, const ProductUnit& unit) {
  std::vector<int> elements;
  for (int lane = 0; lane < unit.n; ++lane) {
    elements.push_back(lane * unit.k + i);
  }
  llvm::Value* each = kernel.b().CreateBitCast(
      dots, kernel.VectorOf(kernel.MemoryType(dtype), unit.n * unit.k));
  return EmitCast(
      kernel,
      FromMemory(kernel, kernel.b().CreateShuffleVector(each, elements), dtype),
      dtype, unit.sum);
}

llvm::Value* WriteOut(KernelFunction& kernel, const ProductUnit& unit,
                      llvm::Value* sums, llvm::Value* data,
                      llvm::Value* weights) {
  for (int i = 0; i < unit.k; ++i) {
    llvm::Value* x = ChannelOf(kernel, data, i, unit.data, unit);
    llvm::Value* w = ChannelOf(kernel, weights, i, unit.weight, unit);
    sums = PlusProduct(kernel, sums, x, w);
  }
  return sums;
}

}  // namespace

llvm::Value* PlusProduct(KernelFunction& kernel, llvm::Value* sums,
                         llvm::Value* a, llvm::Value* b) {
  KernelFunction::Builder& builder = kernel.b();
  if (sums->getType()->isFPOrFPVectorTy()) {
    return builder.CreateFAdd(builder.CreateFMul(a, b), sums);
  }
  return builder.CreateAdd(builder.CreateMul(a, b), sums);
}

std::string_view DotAlgorithm(int channels) {
  for (const auto& dot : kDots) {
    if (dot.channels == channels) return dot.algorithm;
  }
  return "";
}

int DotChannels(std::string_view algorithm) {
  for (const auto& dot : kDots) {
    if (dot.algorithm == algorithm) return dot.channels;
  }
  return 0;
}

bool IsDotUnit(const ProductUnit& unit, int lanes) {
  return unit.m == 1 && unit.n == lanes && lanes % unit.k == 0 &&
         SizeOf(unit.data) == SizeOf(unit.weight) &&
         !DotAlgorithm(unit.k).empty();
}

const ProductUnit& DotUnitOf(const CpuMachine& machine,
                             const ContractionTypes& types,
                             std::string_view algorithm) {
  const auto unit =
      std::ranges::find_if(machine.products, [&](const ProductUnit& each) {
        return each.k == DotChannels(algorithm) &&
               each.Takes(types.data, types.weight, types.sum);
      });
  MXC_CHECK(unit != machine.products.end(), "no unit does {}", algorithm);
  return *unit;
}

llvm::Value* LoadDots(KernelFunction& kernel, const ProductUnit& unit,
                      llvm::Value* address, int lanes) {
  KernelFunction::Builder& b = kernel.b();
  const int64_t size = SizeOf(unit.data);
  const auto bits = static_cast<unsigned>(8 * size * unit.k);
  llvm::Value* dots =
      b.CreateAlignedLoad(kernel.VectorOf(b.getIntNTy(bits), lanes), address,
                          llvm::Align(static_cast<uint64_t>(size)));
  return lanes == 1 ? b.CreateVectorSplat(static_cast<unsigned>(unit.n), dots)
                    : dots;
}

llvm::Value* EmitDots(KernelFunction& kernel, const ProductUnit& unit,
                      llvm::Value* sums, llvm::Value* data,
                      llvm::Value* weights) {
  KernelFunction::Builder& b = kernel.b();
#define MXC_DOT_UNIT(unit_name, intrinsic, Element)                            \
  if (unit.name == unit_name) {                                                \
    llvm::Type* type = kernel.VectorOf(b.get##Element##Ty(), unit.n * unit.k); \
    return b.CreateIntrinsic(                                                  \
        sums->getType(), llvm::Intrinsic::intrinsic,                           \
        {sums, b.CreateBitCast(data, type), b.CreateBitCast(weights, type)});  \
  }
#include "codegen/cpu/contraction/dot_units.def"
#undef MXC_DOT_UNIT
  return WriteOut(kernel, unit, sums, data, weights);
}

}  // namespace mxc::contraction
