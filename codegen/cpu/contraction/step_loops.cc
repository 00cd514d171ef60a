// SPDX-License-Identifier: Apache-2.0
// The loops around the steps of a register tile, and within one.
#include <algorithm>
#include <bit>

#include "codegen/cpu/contraction/digit_planes.h"
#include "codegen/cpu/contraction/micro_kernel.h"
#include "ir/support/division.h"

namespace mxc::contraction {

// Of a loop whose iterations are chains of `inside` additions.
int64_t MicroKernel::IterationsOfChain(int64_t inside, int64_t extent) const {
  const int64_t most = nest_.chain_additions;
  const bool is_cut = nest_.types.sum == DType::kF32 && unit_ == nullptr &&
                      inside <= most && inside * extent > most;
  if (!is_cut) return extent;
  const int64_t chains = DivideUp(extent, most / inside);
  return DivideUp(extent, chains);
}

MicroKernel::Carried MicroKernel::StepLoops(const Steps& steps, size_t axis,
                                            const Count& count,
                                            const Source& source,
                                            Carried carried) {
  if (axis == steps.axes.size()) return OneStep(steps, source, carried);
  if (axis == 0 && nest_.int4) {
    return GroupLoop(steps, {kernel_.Int(0), count.value}, source,
                     std::move(carried));
  }
  const int64_t chain =
      IterationsOfChain(steps.AdditionsInside(axis), count.most);
  if (chain == count.most) {
    return StepRange(steps, axis, {kernel_.Int(0), count.value}, source,
                     std::move(carried));
  }
  KernelFunction::Builder& b = kernel_.b();
  return kernel_.Loop(
      kernel_.Int(0), count.value, chain, std::move(carried),
      [&](llvm::Value* first, const Carried& total) {
        llvm::Value* end =
            b.CreateAdd(first, kernel_.Int(chain), "", true, true);
        end =
            b.CreateSelect(b.CreateICmpULT(end, count.value), end, count.value);
        return Plus(total,
                    StepRange(steps, axis, {first, end}, source, Zeros()));
      });
}

MicroKernel::Carried MicroKernel::StepRange(const Steps& steps, size_t axis,
                                            const Range& range,
                                            const Source& source,
                                            Carried carried) {
  if (JoinsElements(steps, axis, source)) {
    return ElementRange(steps, axis, range, source, std::move(carried));
  }
  return kernel_.Loop(range.first, range.end, 1, std::move(carried),
                      [&](llvm::Value* i, const Carried& values) {
                        const Source inner = Advanced(steps, axis, i, source);
                        const bool is_last = axis + 1 == steps.axes.size();
                        return StepLoops(
                            steps, axis + 1,
                            AllOf(is_last ? 1 : steps.axes[axis + 1].extent),
                            inner, values);
                      });
}

MicroKernel::Source MicroKernel::Advanced(const Steps& steps, size_t axis,
                                          llvm::Value* i,
                                          const Source& source) {
  const StepAxis& a = steps.axes[axis];
  Source inner = source;
  inner.data =
      axis == 0 && source.data_stride
          ? kernel_.ElementAddress(
                source.data, kernel_.b().CreateNSWMul(i, source.data_stride),
                SizeOf(nest_.types.data))
          : Advance(source.data, i, a.data_stride, nest_.types.data);
  inner.weight = Advance(source.weight, i, a.weight_stride, nest_.types.weight);
  return inner;
}

// Whether an iteration's elements and those of the next are one loop, in which
// weights advance evenly and data, at the end of an iteration, by one stride more.
bool MicroKernel::JoinsElements(const Steps& steps, size_t axis,
                                const Source& source) const {
  const bool last =
      std::all_of(steps.axes.begin() + axis + 1, steps.axes.end(),
                  [](const StepAxis& a) { return a.extent == 1; });
  return machine_.loads_first && last && unit_ == nullptr && !nest_.int4 &&
         nest_.access == DataAccess::kBroadcast &&
         source.data_stride == nullptr && source.ahead == nullptr &&
         std::has_single_bit(static_cast<uint64_t>(steps.unroll)) &&
         steps.axes[axis].weight_stride == steps.unroll * steps.row_stride;
}

MicroKernel::Carried MicroKernel::ElementRange(const Steps& steps, size_t axis,
                                               const Range& range,
                                               const Source& source,
                                               Carried carried) {
  KernelFunction::Builder& b = kernel_.b();
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.setFastMathFlags(flags);
  const Source first = Advanced(steps, axis, range.first, source);
  Steps one = steps;
  one.unroll = 1;
  const size_t sums = carried.size();
  carried.insert(carried.end(), {Opaque(first.data), Opaque(first.weight)});
  const int64_t jump =
      steps.axes[axis].data_stride - steps.unroll * steps.stride;
  carried = kernel_.Loop(
      b.CreateNSWMul(range.first, kernel_.Int(steps.unroll)),
      b.CreateNSWMul(range.end, kernel_.Int(steps.unroll)), 1,
      std::move(carried), [&](llvm::Value* i, Carried values) {
        AddBroadcasts(one, values[sums], values[sums + 1], values.data());
        llvm::Value* next = At(values[sums], steps.stride, nest_.types.data);
        if (jump != 0) {
          llvm::Value* ends =
              b.CreateICmpEQ(b.CreateAnd(i, kernel_.Int(steps.unroll - 1)),
                             kernel_.Int(steps.unroll - 1));
          next = b.CreateSelect(ends, At(next, jump, nest_.types.data), next);
        }
        values[sums] = next;
        values[sums + 1] =
            At(values[sums + 1], steps.row_stride, nest_.types.weight);
        return values;
      });
  carried.resize(sums);
  return carried;
}

MicroKernel::Carried MicroKernel::ElementLoop(const Steps& steps,
                                              llvm::Value* data,
                                              llvm::Value* weight,
                                              Carried carried) {
  Steps one = steps;
  one.unroll = 1;
  const size_t sums = carried.size();
  carried.insert(carried.end(), {data, weight});
  carried = kernel_.Loop(
      kernel_.Int(0), kernel_.Int(steps.unroll), 1, std::move(carried),
      [&](llvm::Value*, Carried values) {
        if (nest_.access == DataAccess::kBroadcast) {
          AddBroadcasts(one, values[sums], values[sums + 1], values.data());
        } else {
          AddWindow(one, values[sums], values[sums + 1], values.data());
        }
        values[sums] = At(values[sums], steps.stride, nest_.types.data);
        values[sums + 1] =
            At(values[sums + 1], steps.row_stride, nest_.types.weight);
        return values;
      });
  carried.resize(sums);
  return carried;
}

// Two panels after the other two.
MicroKernel::Accumulators MicroKernel::SumsOfDigits(const Source& source,
                                                    const Count& count) {
  Accumulators sums;
  for (int v = 0; v < shape_.vectors; v += kPlaneVectors) {
    const auto panel = [&](int vector) {
      return At(source.weight, VectorOffset(vector), DType::kU8);
    };
    const Accumulators four =
        DigitPlaneSums(kernel_, nest_,
                       {{panel(v), panel(v + nest_.panel_vectors)},
                        source.digits,
                        count.value,
                        source.ahead});
    sums.insert(sums.end(), four.begin(), four.end());
  }
  return sums;
}

}  // namespace mxc::contraction
