// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/micro_kernel.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "codegen/cpu/contraction/digit_planes.h"
#include "codegen/cpu/contraction/dot_unit.h"
#include "codegen/cpu/contraction/int4_weights.h"
#include "codegen/llvm/arithmetic.h"

namespace mxc::contraction {
namespace {

// Operands of llvm.prefetch.
constexpr int kRead = 0, kSecondCache = 2, kFirstCache = 3, kData = 1;

// Rows of weights between those in use and those that the first cache fetches.
constexpr int64_t kRowsAhead = 4;

}  // namespace

MicroKernel::MicroKernel(KernelFunction& kernel, const Nest& nest,
                         TileShape shape)
    : kernel_(kernel),
      machine_(CpuMachineOf(kernel.target())),
      nest_(nest),
      shape_(shape),
      vector_type_(
          kernel.VectorOf(kernel.ValueType(nest.types.sum), nest.lanes)),
      half_tail_(nest.access == DataAccess::kBroadcast &&
                 nest.lanes * SizeOf(nest.types.sum) ==
                     machine_.split_vector_bytes &&
                 shape.tail_lanes > 0 && 2 * shape.tail_lanes <= nest.lanes) {}

llvm::Type* MicroKernel::TypeOf(int vector) const {
  if (!half_tail_ || vector + 1 < shape_.vectors) return vector_type_;
  return kernel_.VectorOf(kernel_.ValueType(nest_.types.sum), nest_.lanes / 2);
}

int MicroKernel::LanesOf(int vector) const {
  return TypeOf(vector) == vector_type_ ? nest_.lanes : nest_.lanes / 2;
}

llvm::Value* MicroKernel::MaskOf(int vector) const {
  const bool meets = shape_.tail_lanes > 0 && shape_.tail_meets_others;
  if (!meets || vector + 1 < shape_.vectors) return nullptr;
  const int64_t lanes = half_tail_ ? nest_.lanes / 2 : nest_.lanes;
  if (lanes == shape_.tail_lanes) return nullptr;
  std::vector<llvm::Constant*> bits;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    bits.push_back(kernel_.b().getInt1(lane < shape_.tail_lanes));
  }
  return llvm::ConstantVector::get(bits);
}

MicroKernel::Accumulators MicroKernel::Zeros() {
  Accumulators zeros;
  for (int64_t pixel = 0; pixel < shape_.pixels(); ++pixel) {
    for (int v = 0; v < shape_.vectors; ++v) {
      zeros.push_back(llvm::Constant::getNullValue(TypeOf(v)));
    }
  }
  return zeros;
}

MicroKernel::Accumulators MicroKernel::Widened(Accumulators sums) {
  if (!half_tail_) return sums;
  std::vector<int> lanes(nest_.lanes);
  std::iota(lanes.begin(), lanes.end(), 0);
  for (size_t i = shape_.vectors - 1; i < sums.size(); i += shape_.vectors) {
    sums[i] = kernel_.b().CreateShuffleVector(
        sums[i], llvm::Constant::getNullValue(sums[i]->getType()), lanes);
  }
  return sums;
}

MicroKernel::Accumulators MicroKernel::Load(llvm::Value* output) {
  KernelFunction::Builder& b = kernel_.b();
  const llvm::Align align(SizeOf(nest_.types.sum));
  Accumulators values;
  for (int64_t row = 0; row < shape_.rows; ++row) {
    for (int64_t column = 0; column < shape_.width; ++column) {
      for (int v = 0; v < shape_.vectors; ++v) {
        llvm::Value* at =
            At(output, OutputOffset(row, column, v), nest_.types.sum);
        if (llvm::Value* mask = MaskOf(v)) {
          values.push_back(
              b.CreateMaskedLoad(TypeOf(v), at, align, mask,
                                 llvm::Constant::getNullValue(TypeOf(v))));
        } else {
          values.push_back(b.CreateAlignedLoad(TypeOf(v), at, align));
        }
      }
    }
  }
  return values;
}

void MicroKernel::Store(llvm::Value* output, const Accumulators& values) {
  KernelFunction::Builder& b = kernel_.b();
  const llvm::Align align(SizeOf(nest_.types.sum));
  size_t i = 0;
  for (int64_t row = 0; row < shape_.rows; ++row) {
    for (int64_t column = 0; column < shape_.width; ++column) {
      for (int v = 0; v < shape_.vectors; ++v) {
        llvm::Value* at =
            At(output, OutputOffset(row, column, v), nest_.types.sum);
        if (llvm::Value* mask = MaskOf(v)) {
          b.CreateMaskedStore(values[i++], at, align, mask);
        } else {
          b.CreateAlignedStore(values[i++], at, align);
        }
      }
    }
  }
}

int64_t MicroKernel::OutputOffset(int64_t row, int64_t column,
                                  int vector) const {
  return row * nest_.rows.output_stride + column * nest_.columns.output_stride +
         vector * nest_.output_vector_stride;
}

MicroKernel::Accumulators MicroKernel::SumsOfMain(const Source& source,
                                                  const Count& count) {
  const bool whole =
      shape_.tail_lanes == 0 && shape_.vectors % kPlaneVectors == 0;
  if (source.digits != nullptr && whole) return SumsOfDigits(source, count);
  if (nest_.access != DataAccess::kTiles) {
    return Add(nest_.main, source, count);
  }
  TileUnit unit(kernel_, nest_, shape_.width, shape_.rows, shape_.vectors);
  unit.Zero();
  unit_ = &unit;
  Add(nest_.main, source, count);
  unit_ = nullptr;
  return unit.Sums();
}

MicroKernel::Accumulators MicroKernel::Plus(const Accumulators& total,
                                            Accumulators added) {
  KernelFunction::Builder& b = kernel_.b();
  const bool real = IsFloat(nest_.types.sum);
  for (size_t i = 0; i < total.size(); ++i) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(total[i]);
    if (constant != nullptr && constant->isNullValue()) continue;
    added[i] = real ? b.CreateFAdd(total[i], added[i])
                    : b.CreateAdd(total[i], added[i]);
  }
  return added;
}

MicroKernel::Accumulators MicroKernel::AddTail(Source source,
                                               const Accumulators& sums) {
  if (nest_.tail.unroll == 0) return sums;
  const auto& axes = nest_.tail.axes;
  source.data = At(source.data, nest_.tail_offset, nest_.types.data);
  source.ahead = nullptr;
  return AddTo(sums, nest_.tail, source,
               AllOf(axes.empty() ? 1 : axes[0].extent));
}

MicroKernel::Count MicroKernel::AllOf(int64_t iterations) {
  return {kernel_.Int(iterations), iterations};
}

MicroKernel::Accumulators MicroKernel::Add(const Steps& steps,
                                           const Source& source,
                                           const Count& count) {
  if (unit_ != nullptr) return StepLoops(steps, 0, count, source, {});
  return AddTo(Zeros(), steps, source, count);
}

// In one chain with what has been added: registers are full of sums.
MicroKernel::Accumulators MicroKernel::AddTo(Accumulators sums,
                                             const Steps& steps,
                                             const Source& source,
                                             const Count& count) {
  const bool adds =
      unit_ == nullptr && nest_.in_dots() && AddsToData(nest_.unit);
  added_to_data_ = adds ? AddedToData(kernel_, nest_.unit) : nullptr;
  for (int v = 0; adds && v < shape_.vectors; ++v) {
    sums.push_back(llvm::Constant::getNullValue(TypeOf(v)));
  }
  sums = StepLoops(steps, 0, count, source, std::move(sums));
  if (adds) TakeAdded(sums);
  return sums;
}

// The last sums are what data have in excess.
void MicroKernel::TakeAdded(Accumulators& sums) {
  const size_t own = sums.size() - shape_.vectors;
  for (size_t i = 0; i < own; ++i) {
    sums[i] = kernel_.b().CreateSub(sums[i], sums[own + i % shape_.vectors]);
  }
  sums.resize(own);
}

MicroKernel::Carried MicroKernel::OneStep(const Steps& steps,
                                          const Source& source,
                                          Carried carried) {
  KernelFunction::Builder& b = kernel_.b();
  // LLVM's loop strength reduction would else make an induction variable of
  // every address in here.
  llvm::Value* data = Opaque(source.data);
  llvm::Value* weight = Opaque(source.weight);
  FetchAhead(source, weight);
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.setFastMathFlags(flags);
  const bool by_elements = nest_.access == DataAccess::kOwnGroup ||
                           nest_.access == DataAccess::kBroadcast;
  if (machine_.loads_first && by_elements && !nest_.int4) {
    return ElementLoop(steps, data, weight, std::move(carried));
  }
  if (unit_ != nullptr) {
    unit_->Add(data, weight);
  } else if (nest_.access == DataAccess::kDots) {
    AddDots(steps, data, weight, carried.data());
  } else if (nest_.access == DataAccess::kOwnDots) {
    AddOwnDots(steps, data, weight, carried.data());
  } else if (nest_.access == DataAccess::kBroadcast) {
    AddBroadcasts(steps, data, weight, carried.data());
  } else if (nest_.pairs_positions()) {
    AddPairs(steps, data, weight, carried.data());
  } else {
    AddWindow(steps, data, weight, carried.data());
  }
  return carried;
}

void MicroKernel::FetchAhead(const Source& source, llvm::Value* weight) {
  if (!source.ahead) return;
  KernelFunction::Builder& b = kernel_.b();
  const DType dtype = nest_.types.weight;
  llvm::Value* ahead =
      kernel_.ElementAddress(weight, source.ahead, SizeOf(dtype));
  for (int v = 0; v < shape_.vectors; v += nest_.panel_vectors) {
    for (int64_t line = 0; line < source.ahead_lines; ++line) {
      b.CreateIntrinsic(
          b.getVoidTy(), llvm::Intrinsic::prefetch,
          {At(ahead, VectorOffset(v) + nest_.LineOffset(line), dtype),
           b.getInt32(kRead), b.getInt32(kSecondCache), b.getInt32(kData)});
    }
  }
}

MicroKernel::Accumulators MicroKernel::WeightsOf(const Steps& steps,
                                                 llvm::Value* weight,
                                                 int64_t i) {
  Accumulators weights;
  for (int v = 0; v < shape_.vectors; ++v) {
    if (nest_.int4) {
      const int64_t offset = i / 2 * steps.row_stride + VectorOffset(v);
      weights.push_back(LoadInt4(kernel_, At(weight, offset, DType::kU8),
                                 LanesOf(v),
                                 /*upper=*/i % 2 != 0, nest_.types.sum));
    } else {
      weights.push_back(Load(weight, i * steps.row_stride + VectorOffset(v),
                             nest_.types.weight, LanesOf(v)));
    }
  }
  return weights;
}

void MicroKernel::AddBroadcasts(const Steps& steps, llvm::Value* data,
                                llvm::Value* weight, llvm::Value** sums) {
  KernelFunction::Builder& b = kernel_.b();
  const auto lanes = static_cast<unsigned>(nest_.lanes);
  const bool overlap = WindowsOverlap(steps);
  std::vector<int> half(lanes / 2);
  std::iota(half.begin(), half.end(), 0);
  const bool in_rows = ElementsInRows(steps);
  Accumulators rows(static_cast<size_t>(shape_.pixels()));
  for (int64_t i = 0; i < steps.unroll; ++i) {
    const Accumulators weights = WeightsOf(steps, weight, i);
    FetchNextTile(steps, data, i);
    FetchRow(steps, weight, i);
    if (overlap) data = Opaque(data);
    for (int64_t pixel = 0; pixel < shape_.pixels(); ++pixel) {
      const int64_t offset = PixelOffset(pixel) + i * steps.stride;
      llvm::Value* x = nullptr;
      if (in_rows) {
        const int lane = static_cast<int>(i % nest_.lanes);
        llvm::Value*& row = rows[static_cast<size_t>(pixel)];
        if (lane == 0) row = Load(data, offset, nest_.types.data, nest_.lanes);
        x = b.CreateShuffleVector(row, std::vector<int>(lanes, lane));
      } else {
        x = b.CreateVectorSplat(lanes, Load(data, offset, nest_.types.data, 1));
      }
      for (int v = 0; v < shape_.vectors; ++v) {
        llvm::Value*& sum = sums[pixel * shape_.vectors + v];
        llvm::Value* own =
            TypeOf(v) == vector_type_ ? x : b.CreateShuffleVector(x, half);
        sum = PlusProduct(kernel_, sum, own, weights[v]);
      }
    }
  }
}

// Elements of some steps that a register holds in a row, each of which an
// instruction multiplies by.
bool MicroKernel::ElementsInRows(const Steps& steps) const {
  return machine_.multiplies_by_element && steps.stride == 1 &&
         steps.unroll % nest_.lanes == 0 && IsFloat(nest_.types.sum) &&
         nest_.types.data == nest_.types.sum;
}

void MicroKernel::AddDots(const Steps& steps, llvm::Value* data,
                          llvm::Value* weight, llvm::Value** sums) {
  const ProductUnit& unit = nest_.unit;
  const bool overlap = WindowsOverlap(steps);
  for (int64_t i = 0; i < steps.unroll; i += unit.k) {
    Accumulators weights;
    for (int v = 0; v < shape_.vectors; ++v) {
      const int64_t offset = i * steps.row_stride + VectorOffset(v);
      weights.push_back(
          LoadWeightDots(kernel_, unit, At(weight, offset, unit.weight)));
      if (added_to_data_ == nullptr) continue;
      llvm::Value*& sum = sums[shape_.pixels() * shape_.vectors + v];
      sum = EmitDots(kernel_, unit, sum, added_to_data_, weights[v]);
    }
    if (overlap) data = Opaque(data);
    for (int64_t pixel = 0; pixel < shape_.pixels(); ++pixel) {
      llvm::Value* address = At(data, PixelOffset(pixel) + i, unit.data);
      // Behind the last column lies another window's, infinite perhaps.
      llvm::Value* x =
          i + 1 == steps.unroll
              ? LoadDataFirst(kernel_, unit, address)
              : LoadDataDots(kernel_, unit, address, added_to_data_);
      for (int v = 0; v < shape_.vectors; ++v) {
        llvm::Value*& sum = sums[pixel * shape_.vectors + v];
        sum = EmitDots(kernel_, unit, sum, x, weights[v]);
      }
    }
  }
}

// Of weights that the second cache holds and a single row of data meets, a product
// of a recurrent network's: they come from there faster than a core asks by itself.
void MicroKernel::FetchRow(const Steps& steps, llvm::Value* weight, int64_t i) {
  const double bytes = nest_.weight_bytes();
  const bool streams = machine_.fetches_ahead && nest_.packed && !nest_.int4 &&
                       nest_.pixels() == 1 && nest_.data_vector_stride == 0 &&
                       bytes > static_cast<double>(machine_.l1.bytes) &&
                       bytes <= static_cast<double>(machine_.l2.bytes);
  if (!streams) return;
  KernelFunction::Builder& b = kernel_.b();
  const DType dtype = nest_.types.weight;
  const int64_t row = (i + kRowsAhead) * steps.row_stride;
  for (int v = 0; v < shape_.vectors; ++v) {
    b.CreateIntrinsic(
        b.getVoidTy(), llvm::Intrinsic::prefetch,
        {At(weight, row + VectorOffset(v), dtype), b.getInt32(kRead),
         b.getInt32(kFirstCache), b.getInt32(kData)});
  }
}

// The elements of the pixels after the tile's, where each lies on another page.
void MicroKernel::FetchNextTile(const Steps& steps, llvm::Value* data,
                                int64_t i) {
  const int64_t bytes = steps.stride * SizeOf(nest_.types.data);
  const bool apart = bytes >= machine_.page_bytes && shape_.rows == 1 &&
                     nest_.columns.data_stride == 1;
  if (!apart) return;
  KernelFunction::Builder& b = kernel_.b();
  const int64_t last = i * steps.stride + 2 * shape_.width - 1;
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::prefetch,
                    {At(data, last, nest_.types.data), b.getInt32(kRead),
                     b.getInt32(kSecondCache), b.getInt32(kData)});
}

// Position by position of the data, so that each is loaded (and its lanes
// permuted) once for all windows that it lies in, and then forgotten.
void MicroKernel::AddWindow(const Steps& steps, llvm::Value* data,
                            llvm::Value* weight, llvm::Value** sums) {
  const auto positions = UsesOf(steps);
  const int64_t own = nest_.own_channel;
  const int64_t channels = own < 0 ? nest_.group_channels : 1;
  for (int64_t channel = 0; channel < channels; ++channel) {
    Accumulators weights;
    for (int64_t tap = 0; tap < steps.unroll; ++tap) {
      weights.push_back(
          Load(weight, tap * steps.row_stride + channel * nest_.panel_width(),
               nest_.types.weight, nest_.lanes));
    }
    if (channel > 0) data = Opaque(data);
    for (const auto& [offset, uses] : positions) {
      llvm::Value* x =
          OwnGroupsChannel(Load(data, offset, nest_.types.data, nest_.lanes),
                           own < 0 ? channel : own);
      for (const Use& use : uses) {
        llvm::Value*& sum = sums[use.pixel];
        sum = PlusProduct(kernel_, sum, x, weights[use.tap]);
      }
    }
  }
}

// In each lane, `channel` of the group that the lane belongs to.
llvm::Value* MicroKernel::OwnGroupsChannel(llvm::Value* vector,
                                           int64_t channel) {
  const int group = static_cast<int>(nest_.group_channels);
  if (group == 1) return vector;
  std::vector<int> lanes(nest_.lanes);
  for (int lane = 0; lane < nest_.lanes; ++lane) {
    lanes[lane] = lane / group * group + static_cast<int>(channel);
  }
  return kernel_.b().CreateShuffleVector(vector, lanes);
}

int64_t MicroKernel::PixelOffset(int64_t pixel) const {
  return pixel / shape_.width * nest_.rows.data_stride +
         pixel % shape_.width * nest_.columns.data_stride;
}

// Windows of neighbouring pixels share elements. Seeing that, LLVM would keep
// their broadcasts in registers, and run out of them.
bool MicroKernel::WindowsOverlap(const Steps& steps) const {
  std::set<int64_t> seen;
  for (int64_t i = 0; i < steps.unroll; ++i) {
    for (int64_t pixel = 0; pixel < shape_.pixels(); ++pixel) {
      if (!seen.insert(PixelOffset(pixel) + i * steps.stride).second) {
        return true;
      }
    }
  }
  return false;
}

// The same pointer, in a way that LLVM does not see through.
llvm::Value* MicroKernel::Opaque(llvm::Value* pointer) {
  llvm::Type* type = pointer->getType();
  auto* identity = llvm::InlineAsm::get(
      llvm::FunctionType::get(type, {type}, false), "", "=r,0",
      /*hasSideEffects=*/false);
  return kernel_.b().CreateCall(identity, {pointer});
}

int64_t MicroKernel::VectorOffset(int vector) const {
  const int64_t entries = nest_.access == DataAccess::kDots ? nest_.unit.k : 1;
  return vector / nest_.panel_vectors * nest_.panel_stride +
         vector % nest_.panel_vectors * nest_.lanes * entries;
}

llvm::Value* MicroKernel::Advance(llvm::Value* base, llvm::Value* index,
                                  int64_t stride, DType dtype) {
  if (stride == 0) return base;
  return kernel_.ElementAddress(
      base, kernel_.b().CreateNSWMul(index, kernel_.Int(stride)),
      SizeOf(dtype));
}

llvm::Value* MicroKernel::At(llvm::Value* base, int64_t offset, DType dtype) {
  return kernel_.ElementAddress(base, kernel_.Int(offset), SizeOf(dtype));
}

llvm::Value* MicroKernel::Load(llvm::Value* base, int64_t offset, DType dtype,
                               int lanes) {
  return EmitCast(kernel_,
                  LoadElements(kernel_, At(base, offset, dtype), dtype, lanes),
                  dtype, nest_.types.sum);
}

}  // namespace mxc::contraction
