// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/dot_unit.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "codegen/cpu/contraction/algorithm.h"
#include "codegen/llvm/arithmetic.h"
#include "ir/support/check.h"

namespace mxc::contraction {
namespace {

struct DotAlgorithms {
  int elements;
  std::string_view of_channels, of_taps;
};
constexpr DotAlgorithms kDots[] = {{2, kPairs, kDepthwisePairs},
                                   {4, kQuads, kDepthwiseQuads}};

std::string_view AlgorithmOf(int elements,
                             std::string_view DotAlgorithms::* kind) {
  for (const DotAlgorithms& dots : kDots) {
    if (dots.elements == elements) return dots.*kind;
  }
  return "";
}

int ElementsOf(std::string_view algorithm,
               std::string_view DotAlgorithms::* kind) {
  for (const DotAlgorithms& dots : kDots) {
    if (dots.*kind == algorithm) return dots.elements;
  }
  return 0;
}

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
  return AlgorithmOf(channels, &DotAlgorithms::of_channels);
}

int DotChannels(std::string_view algorithm) {
  return ElementsOf(algorithm, &DotAlgorithms::of_channels);
}

std::string_view TapAlgorithm(int taps) {
  return AlgorithmOf(taps, &DotAlgorithms::of_taps);
}

int DotTaps(std::string_view algorithm) {
  if (algorithm == kColumnPairs) return 2;
  return ElementsOf(algorithm, &DotAlgorithms::of_taps);
}

bool IsDotUnit(const ProductUnit& unit, int lanes) {
  return unit.m == 1 && unit.n == lanes && lanes % unit.k == 0 &&
         SizeOf(unit.data) >= SizeOf(unit.weight) &&
         !DotAlgorithm(unit.k).empty();
}

bool AddsToData(const ProductUnit& unit) {
#define MXC_DOT_UNIT(unit_name, intrinsic, Element, adds, is_unsigned) \
  if (unit.name == unit_name) return is_unsigned && unit.data == DType::kI8;
#include "codegen/cpu/contraction/dot_units.def"
#undef MXC_DOT_UNIT
  return false;
}

const ProductUnit& DotUnitOf(const CpuMachine& machine,
                             const ContractionTypes& types,
                             std::string_view algorithm) {
  const int elements = std::max(DotChannels(algorithm), DotTaps(algorithm));
  const auto unit =
      std::ranges::find_if(machine.products, [&](const ProductUnit& each) {
        return each.k == elements &&
               each.Takes(types.data, types.weight, types.sum);
      });
  MXC_CHECK(unit != machine.products.end(), "no unit does {}", algorithm);
  return *unit;
}

namespace {

// What instructions and LLVM say of a unit.
struct Instruction {
  llvm::Intrinsic::ID intrinsic = 0;  // 0: it is written out
  llvm::Type* element = nullptr;
  bool adds = false;
};

Instruction InstructionOf(KernelFunction& kernel, const ProductUnit& unit) {
  KernelFunction::Builder& b = kernel.b();
#define MXC_DOT_UNIT(unit_name, intrinsic, Element, adds, is_unsigned) \
  if (unit.name == unit_name) {                                        \
    return {llvm::Intrinsic::intrinsic, b.get##Element##Ty(), adds};   \
  }
#include "codegen/cpu/contraction/dot_units.def"
#undef MXC_DOT_UNIT
  return {};
}

// One lane's channels, as an integer.
llvm::Type* DotsOfLane(KernelFunction& kernel, const ProductUnit& unit) {
  return kernel.b().getIntNTy(
      static_cast<unsigned>(8 * SizeOf(unit.data) * unit.k));
}

}  // namespace

llvm::Value* LoadWeightDots(KernelFunction& kernel, const ProductUnit& unit,
                            llvm::Value* address) {
  KernelFunction::Builder& b = kernel.b();
  const int64_t size = SizeOf(unit.weight);
  const llvm::Align align(static_cast<uint64_t>(size));
  llvm::Type* lanes = kernel.VectorOf(DotsOfLane(kernel, unit), unit.n);
  if (size == SizeOf(unit.data)) {
    return b.CreateAlignedLoad(lanes, address, align);
  }
  const auto vector = [&](DType dtype) {
    return kernel.VectorOf(kernel.MemoryType(dtype), unit.n * unit.k);
  };
  llvm::Value* narrow =
      b.CreateAlignedLoad(vector(unit.weight), address, align);
  return b.CreateBitCast(b.CreateSExt(narrow, vector(unit.data)), lanes);
}

llvm::Value* LoadDataDots(KernelFunction& kernel, const ProductUnit& unit,
                          llvm::Value* address, llvm::Value* added) {
  KernelFunction::Builder& b = kernel.b();
  llvm::Value* dots = b.CreateVectorSplat(
      static_cast<unsigned>(unit.n),
      b.CreateAlignedLoad(
          DotsOfLane(kernel, unit), address,
          llvm::Align(static_cast<uint64_t>(SizeOf(unit.data)))));
  return added == nullptr ? dots : b.CreateXor(dots, added);
}

llvm::Value* LoadDataTaps(KernelFunction& kernel, const ProductUnit& unit,
                          llvm::Value* address, llvm::Value* added) {
  KernelFunction::Builder& b = kernel.b();
  const llvm::Align align(static_cast<uint64_t>(SizeOf(unit.data)));
  llvm::Value* positions = b.CreateAlignedLoad(
      kernel.VectorOf(kernel.MemoryType(unit.data), unit.n * unit.k), address,
      align);
  std::vector<int> elements;
  for (int lane = 0; lane < unit.n; ++lane) {
    for (int tap = 0; tap < unit.k; ++tap) {
      elements.push_back(tap * unit.n + lane);
    }
  }
  llvm::Value* dots =
      b.CreateBitCast(b.CreateShuffleVector(positions, elements),
                      kernel.VectorOf(DotsOfLane(kernel, unit), unit.n));
  return added == nullptr ? dots : b.CreateXor(dots, added);
}

llvm::Value* LoadDataFirst(KernelFunction& kernel, const ProductUnit& unit,
                           llvm::Value* address) {
  KernelFunction::Builder& b = kernel.b();
  llvm::Type* type = kernel.MemoryType(unit.data);
  llvm::Value* one = b.CreateAlignedLoad(
      type, address, llvm::Align(static_cast<uint64_t>(SizeOf(unit.data))));
  const auto elements = static_cast<unsigned>(unit.n * unit.k);
  std::vector<llvm::Constant*> is_first;
  for (unsigned i = 0; i < elements; ++i) {
    is_first.push_back(b.getInt1(i % static_cast<unsigned>(unit.k) == 0));
  }
  llvm::Value* all = b.CreateVectorSplat(elements, one);
  llvm::Value* first =
      b.CreateSelect(llvm::ConstantVector::get(is_first), all,
                     llvm::Constant::getNullValue(all->getType()));
  return b.CreateBitCast(first,
                         kernel.VectorOf(DotsOfLane(kernel, unit), unit.n));
}

namespace {

// The lower half of a register, whose upper half is anything. To exchange lanes
// of two of them LLVM would first copy each to its upper half, which takes as
// long again, if it saw where they come from.
llvm::Value* LowerHalf(KernelFunction& kernel, llvm::Value* lanes, int count) {
  std::vector<int> widened(static_cast<size_t>(2) * count, -1);
  std::iota(widened.begin(), widened.begin() + count, 0);
  llvm::Value* half = kernel.b().CreateShuffleVector(lanes, widened);
  if (!kernel.target().triple.starts_with("x86_64")) return half;
  llvm::Type* type = half->getType();
  auto* hidden = llvm::InlineAsm::get(
      llvm::FunctionType::get(type, {type}, false), "", "=v,0",
      /*hasSideEffects=*/false);
  return kernel.b().CreateCall(hidden, {half});
}

}  // namespace

llvm::Value* LoadPairs(KernelFunction& kernel, const ProductUnit& unit,
                       DType dtype, llvm::Value* first, llvm::Value* second) {
  KernelFunction::Builder& b = kernel.b();
  llvm::Type* dots = kernel.VectorOf(DotsOfLane(kernel, unit), unit.n);
  const auto load = [&](llvm::Value* address) {
    return b.CreateAlignedLoad(
        kernel.VectorOf(kernel.MemoryType(dtype), unit.n), address,
        llvm::Align(static_cast<uint64_t>(SizeOf(dtype))));
  };
  if (second == nullptr) return b.CreateZExt(load(first), dots);
  std::vector<int> lanes;
  for (int lane = 0; lane < unit.n; ++lane) {
    lanes.insert(lanes.end(), {lane, 2 * unit.n + lane});
  }
  return b.CreateBitCast(
      b.CreateShuffleVector(LowerHalf(kernel, load(first), unit.n),
                            LowerHalf(kernel, load(second), unit.n), lanes),
      dots);
}

llvm::Value* EmitDots(KernelFunction& kernel, const ProductUnit& unit,
                      llvm::Value* sums, llvm::Value* data,
                      llvm::Value* weights) {
  KernelFunction::Builder& b = kernel.b();
  const Instruction instruction = InstructionOf(kernel, unit);
  if (instruction.element == nullptr) {
    return WriteOut(kernel, unit, sums, data, weights);
  }
  const auto bits = static_cast<int>(8 * SizeOf(unit.data) * unit.k) * unit.n;
  llvm::Type* type = kernel.VectorOf(
      instruction.element,
      bits / static_cast<int>(instruction.element->getPrimitiveSizeInBits()));
  std::vector<llvm::Value*> arguments = {b.CreateBitCast(data, type),
                                         b.CreateBitCast(weights, type)};
  if (instruction.adds) arguments.insert(arguments.begin(), sums);
  llvm::Value* products =
      b.CreateIntrinsic(sums->getType(), instruction.intrinsic, arguments);
  return instruction.adds ? products : b.CreateAdd(sums, products);
}

// 128, which is another upper bit. LLVM must not see it: it would add to the one
// element before that goes to all lanes, which takes a register of each kind.
llvm::Value* AddedToData(KernelFunction& kernel, const ProductUnit& unit) {
  llvm::Type* type = kernel.VectorOf(DotsOfLane(kernel, unit), unit.n);
  auto* hidden = llvm::InlineAsm::get(
      llvm::FunctionType::get(type, {type}, false), "", "=v,0",
      /*hasSideEffects=*/false);
  return kernel.b().CreateCall(hidden,
                               {llvm::ConstantInt::get(type, 0x80808080)});
}

}  // namespace mxc::contraction
