// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/channel_kernel.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/block_reduction.h"
#include "codegen/cuda/device_function.h"
#include "codegen/cuda/task_per_thread.h"
#include "codegen/cuda/thread_kernel.h"
#include "codegen/loops/map_nests.h"
#include "codegen/loops/nest_emitter.h"
#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

using llvm::Value;

// Beyond as many threads there are no registers left for each; half as many for
// vectors of more elements.
constexpr int kLeastChannelThreads = 256, kMostChannelThreads = 1024;
constexpr int kFewLanes = 4;
// Vectors of a thread up to which it does not matter how many blocks there are.
constexpr int64_t kFewVectors = 16;

// The one dim of the nest that the offset is a multiple of; -1: another form.
int DimOf(const LoopNest& nest, const Affine& offset, int64_t stride) {
  if (offset.terms.size() != 1 || offset.constant != 0) return -1;
  const Affine::Term& term = offset.terms[0];
  if (term.coefficient != stride || term.atom->kind != ExprKind::kVar) {
    return -1;
  }
  const int last = nest.lane_chunk > 0 ? nest.lane_dim : -1;
  for (int k = 0; k < static_cast<int>(nest.dims.size()); ++k) {
    if (nest.dims[static_cast<size_t>(k)].var != term.atom->index) continue;
    return k < nest.grid_dims || k == last ? k : -1;
  }
  return -1;
}

// Where channels lie in a buffer: this many elements of each in turn, this many
// times.
struct ChannelPlaces {
  int64_t stride = 0, channels = 0;
};

// Returns whether accesses at the offset stay within the channel that `var`
// counts.
bool StaysWithin(const Affine& offset, int var, const IntervalOf& ranges,
                 const ChannelPlaces& places) {
  if (offset.CoefficientOf(var) != places.stride || offset.HidesVar(var)) {
    return false;
  }
  int64_t low = offset.constant, high = offset.constant;
  for (const Affine::Term& term : offset.terms) {
    const int64_t by = term.coefficient;
    const bool is_var = term.atom->kind == ExprKind::kVar;
    if (is_var && term.atom->index == var) continue;
    if (by % (places.stride * places.channels) == 0) continue;
    const auto range = Bounds(term.atom, ranges);
    if (!range) return false;
    low += std::min(by * range->low, by * range->high);
    high += std::max(by * range->low, by * range->high);
  }
  return low >= 0 && high < places.stride;
}

struct ChannelKernel {
  BlockReduction sums;
  std::shared_ptr<const MapNests> elements;
  std::vector<int> sums_operands, elements_operands;
  std::string elements_alignments;
  size_t dim = 0;  // of the elements' nest: the channel
  int threads = 0;
  double bytes = 0;  // that it reads, as often as it does, and writes

  const LoopNest& nest() const { return elements->nests[0]; }
  int64_t channels() const { return nest().dims[dim].extent; }
  bool side_by_side() const { return static_cast<int>(dim) == nest().lane_dim; }
  // Of a block: its channels, and the elements' vectors.
  int64_t channels_of_block() const {
    return side_by_side() ? sums.shape.points_of_block * sums.shape.lanes : 1;
  }
  int64_t blocks() const { return channels() / channels_of_block(); }
  int64_t vectors() const { return nest().tasks / blocks(); }
};

class ChannelPlanning {
 public:
  ChannelPlanning(const Program& program, const Step& sums,
                  const Step& elements, const Target& target)
      : program_(program),
        sums_(sums),
        elements_(elements),
        target_(target),
        machine_(GpuMachineOf(target)) {}

  std::optional<ChannelKernel> Run() {
    if (!IsPlainMap(sums_) || !IsPlainMap(elements_)) return std::nullopt;
    kernel_.sums.map = NestsOf(program_, sums_, target_, kTaskPerThread);
    kernel_.elements = NestsOf(program_, elements_, target_, kTaskPerThread);
    if (kernel_.sums.map->nests.size() != 1 ||
        kernel_.elements->nests.size() != 1 || !FindChannel() ||
        !KeepsApart() || !ShapeSums()) {
      return std::nullopt;
    }
    kernel_.sums_operands = sums_.operands();
    kernel_.elements_operands = elements_.operands();
    CountBytes();
    return kernel_;
  }

 private:
  // Whole sectors, of which a block may need a part.
  double BytesOf(int b) const {
    const Buffer& buffer = program_.buffers[b];
    const auto bytes = static_cast<double>(buffer.bytes());
    if (!kernel_.side_by_side()) return bytes;
    const auto needed = static_cast<double>(kernel_.channels_of_block() *
                                            SizeOf(buffer.type.dtype));
    return bytes * std::max(1.0, static_cast<double>(kSectorBytes) / needed);
  }

  void CountBytes() {
    const auto phases = static_cast<double>(kernel_.sums.shape.phases.size());
    for (const int b : sums_.inputs) {
      kernel_.bytes += phases * BytesOf(b);
    }
    for (const int b : kernel_.elements_operands) {
      kernel_.bytes += BytesOf(b);
    }
  }

  bool IsPlainMap(const Step& step) const {
    const Map* map = step.map();
    if (map == nullptr || step.view) return false;
    return std::ranges::none_of(map->stores, [&](const Store& store) {
      const int output = step.outputs[store.output];
      return MatchScatterSum(store, program_.buffers[output].type.shape)
          .has_value();
    });
  }

  const LoopNest& sums_nest() const { return kernel_.sums.nest(); }

  // Each element needs the sums of its channel alone.
  bool FindChannel() {
    const LoopNest &sums = sums_nest(), &nest = kernel_.nest();
    if (sums.dims.size() != 1 || sums.base != 0 || !sums.kept.empty() ||
        !sums.borders.empty() || !nest.kept.empty() || !nest.borders.empty() ||
        nest.row_dim >= 0 || nest.tasks != nest.GridSize() ||
        nest.tasks >= int64_t{1} << 31) {
      return false;
    }
    int found = -1;
    bool alike = true;
    for (const Expr& value : nest.values) {
      if (HasReduction(value)) return false;
      VisitLoads(value, [&](const ExprNode& load) {
        const int buffer = elements_.inputs[load.index];
        if (!IsSum(buffer)) return;
        const int k = DimOf(nest, ToAffine(load.args[0], nest.Ranges()),
                            sums.dims[0].stride);
        alike = alike && k >= 0 && (found < 0 || k == found);
        found = k;
      });
    }
    if (!alike || found < 0) return false;
    kernel_.dim = static_cast<size_t>(found);
    return nest.dims[kernel_.dim].extent == sums.dims[0].extent;
  }

  bool IsSum(int buffer) const {
    return std::ranges::find(sums_.outputs, buffer) != sums_.outputs.end();
  }

  // What a block writes, no other one reads.
  bool KeepsApart() const {
    for (const int b : elements_.outputs) {
      for (const int sum : sums_.outputs) {
        if (program_.Root(sum) == program_.Root(b)) return false;
      }
      for (size_t i = 0; i < sums_.inputs.size(); ++i) {
        if (program_.Root(sums_.inputs[i]) != program_.Root(b)) continue;
        if (!ReadsOwnChannel(static_cast<int>(i), b)) return false;
      }
    }
    return true;
  }

  bool ReadsOwnChannel(int input, int written) const {
    const LoopNest &sums = sums_nest(), &nest = kernel_.nest();
    const LoopDim& channel = nest.dims[kernel_.dim];
    const ChannelPlaces places = {channel.stride, channel.extent};
    const int buffer = sums_.inputs[input];
    bool own =
        program_.BytesIntoRoot(buffer) == program_.BytesIntoRoot(written) &&
        program_.buffers[buffer].type.dtype ==
            program_.buffers[written].type.dtype &&
        StaysWithin(nest.Offset(), channel.var, nest.Ranges(), places);
    for (const Expr& value : sums.values) {
      VisitReads(value, {}, [&](const ExprNode& load, const IntervalOf& at) {
        if (load.index != input) return;
        own = own && StaysWithin(ToAffine(load.args[0], at), sums.dims[0].var,
                                 at, places);
      });
    }
    return own;
  }

  // Each load with the ranges of the reductions around it.
  void VisitReads(
      const Expr& e, std::vector<Range> around,
      const std::function<void(const ExprNode&, const IntervalOf&)>& f) const {
    around.insert(around.end(), e->ranges.begin(), e->ranges.end());
    if (e->kind == ExprKind::kLoad) {
      f(*e, [&](int var) -> std::optional<Interval> {
        for (const Range& range : around) {
          if (range.var != var) continue;
          if (range.begin->kind != ExprKind::kConst ||
              range.end->kind != ExprKind::kConst) {
            return std::nullopt;
          }
          return Interval{static_cast<int64_t>(range.begin->number),
                          static_cast<int64_t>(range.end->number) - 1};
        }
        return sums_nest().Ranges()(var);
      });
    }
    for (const Expr& arg : e->args) VisitReads(arg, around, f);
  }

  bool ShapeSums() {
    auto found = ShapeOfReductions(sums_nest(), machine_);
    if (!found || found->rows == kernel_.side_by_side()) return false;
    const int lanes = kernel_.side_by_side() ? found->lanes : 1;
    if (found->points * lanes != kernel_.channels()) return false;
    kernel_.sums.shape = std::move(*found);
    shape().points_of_block = 1;
    if (kernel_.side_by_side() && !DealVectors()) return false;
    const int64_t blocks = kernel_.blocks();
    const auto enough = static_cast<uint64_t>(
        std::max<int64_t>(1, machine_.busy_threads() / 2 / blocks));
    const int64_t most =
        std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(enough)),
                            kLeastChannelThreads, MostThreads());
    const auto useful = static_cast<uint64_t>(
        std::clamp<int64_t>(kernel_.vectors(), kWarp, most));
    kernel_.threads = static_cast<int>(std::bit_floor(useful));
    shape().threads_of_point = kernel_.threads / shape().points_of_block;
    return IsBusy(blocks) || kernel_.vectors() <= kFewVectors * kernel_.threads;
  }

  ReductionShape& shape() { return kernel_.sums.shape; }

  int64_t MostThreads() const {
    const bool few =
        std::max(kernel_.nest().lanes, sums_nest().lanes) <= kFewLanes;
    return few ? kMostChannelThreads : kMostChannelThreads / 2;
  }

  bool IsBusy(int64_t blocks) const {
    return blocks * kMostChannelThreads >= machine_.busy_threads() / 64;
  }

  // A block has whole vectors of both steps, and twice as many while that leaves
  // enough blocks and memory yields them at once.
  bool DealVectors() {
    const LoopNest& nest = kernel_.nest();
    int64_t bytes = 1;
    for (const int b : sums_.inputs) {
      bytes = std::max(bytes, SizeOf(program_.buffers[b].type.dtype));
    }
    ReductionShape& shape = kernel_.sums.shape;
    const auto fits = [&](int points) {
      return points <= kWarp && shape.points % points == 0;
    };
    while (shape.lanes * shape.points_of_block % nest.lanes != 0) {
      if (!fits(2 * shape.points_of_block)) return false;
      shape.points_of_block *= 2;
    }
    while (2 * shape.points_of_block * shape.lanes * bytes <= kSectorBytes &&
           fits(2 * shape.points_of_block) &&
           shape.points / shape.points_of_block > machine_.multiprocessors) {
      shape.points_of_block *= 2;
    }
    return nest.dims[kernel_.dim].extent % nest.lanes == 0;
  }

  const Program& program_;
  const Step &sums_, &elements_;
  const Target& target_;
  const GpuMachine machine_;
  ChannelKernel kernel_;
};

// The elements of the block's channel, a vector of each thread in turn.
void EmitElements(DeviceFunction& kernel, const ChannelKernel& channel) {
  auto& b = kernel.b();
  AlignOperands(kernel, channel.elements_alignments);
  const LoopNest& nest = channel.nest();
  ExprEmitter emitter(kernel, OperandsOf(kernel, *channel.elements),
                      nest.lanes);
  // Vectors that lie side by side, and groups of them.
  int64_t inner = channel.vectors();
  for (size_t k = 0; k < channel.dim; ++k) inner /= nest.dims[k].extent;
  Value* thread = b.CreateZExt(kernel.Thread(), b.getInt64Ty());
  kernel.Loop(
      thread, kernel.Int(channel.vectors()), channel.threads, [&](Value* i) {
        Value* number = b.CreateTrunc(i, b.getInt32Ty());
        Value* outer = b.CreateUDiv(number, kernel.Word(inner));
        Value* task = b.CreateAdd(
            b.CreateMul(outer, kernel.Word(channel.blocks())), kernel.Block());
        task = b.CreateAdd(b.CreateMul(task, kernel.Word(inner)),
                           b.CreateURem(number, kernel.Word(inner)));
        Value* begin = b.CreateZExt(task, b.getInt64Ty());
        NestEmitter(emitter, nest)
            .Emit(begin, b.CreateAdd(begin, kernel.Int(1), "", true, true));
      });
}

void EmitChannels(DeviceFunction& kernel, const ChannelKernel& channel) {
  kernel.WithOperands(channel.sums_operands,
                      [&] { EmitBlockReduction(kernel, channel.sums); });
  kernel.Barrier();  // the sums are in memory
  kernel.WithOperands(channel.elements_operands,
                      [&] { EmitElements(kernel, channel); });
}

}  // namespace

std::optional<DevicePlan> PlanChannels(const Program& program, const Step& sums,
                                       const Step& elements,
                                       const Target& target,
                                       const AlignmentOf& alignment) {
  auto found = ChannelPlanning(program, sums, elements, target).Run();
  if (!found) return std::nullopt;
  for (const int b : found->sums_operands) {
    found->sums.alignments += alignment(b);
  }
  for (const int b : found->elements_operands) {
    found->elements_alignments += alignment(b);
  }
  DevicePlan plan;
  plan.tasks = found->blocks();
  const GpuMachine machine = GpuMachineOf(target);
  const int64_t busy = std::min(plan.tasks, machine.multiprocessors);
  plan.nanoseconds =
      1e9 * found->bytes /
      (static_cast<double>(busy) * machine.multiprocessor_bytes_per_second());
  plan.launch =
      LaunchOf(plan.tasks, found->threads, found->sums.shared_bytes());
  plan.emit = [channel = std::move(*found)](DeviceFunction& kernel) {
    EmitChannels(kernel, channel);
  };
  return plan;
}

}  // namespace mxc
