// SPDX-License-Identifier: Apache-2.0
// exchange-pooling: sums over windows of what a 1x1 convolution yields are
// taken of its data instead, or the other way round: both are linear, one over
// pixels, the other over channels. Either the convolution has fewer pixels
// left, or the sums are of fewer channels.
//
//   y[128, 56, 56] = conv 1x1 (x[256, 56, 56])
//   z[128, 28, 28] = Σ y[c, 2i … 2i + 2, 2j … 2j + 2] / 4
//                                     ⇒   p[256, 28, 28] = Σ x[…] / 4
//                                         z[128, 28, 28] = conv 1x1 (p)
//
//   p[192, 35, 35] = Σ x[c, i − 1 … i + 2, j − 1 … j + 2] / 9
//   z[32, 35, 35] = conv 1x1 (p) + b
//                                     ⇒   y[32, 35, 35] = conv 1x1 (x)
//                                         z[32, 35, 35] = Σ y[…] / 9 + b
//
// A bias of what is pooled stays the convolution's where the sum is an average
// of equally many pixels everywhere. Applied where the estimates say that it
// pays.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/evaluation_cost.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

constexpr double kRounding = 1e-12;  // of n · (1 / n)

bool AllAre(const Extents& extents, int64_t value) {
  return std::ranges::count(extents, value) ==
         static_cast<std::ptrdiff_t>(extents.size());
}

// A function of each pixel's channels, f[N, C, spatial …].
bool IsPointwiseConvolution(const Contraction& c) {
  const size_t axes = c.kernel.size() + 2;
  if (c.kernel.empty() || c.data_axes.size() != axes ||
      c.output_axes.size() != axes || c.data_axes[0] != Role::kBatch ||
      c.output_axes[0] != Role::kBatch) {
    return false;
  }
  for (size_t axis = 2; axis < axes; ++axis) {
    const auto role =
        static_cast<Role>(static_cast<size_t>(Role::kSpatial0) + axis - 2);
    if (c.data_axes[axis] != role || c.output_axes[axis] != role) return false;
  }
  return AllAre(c.kernel, 1) && AllAre(c.stride, 1) && AllAre(c.pad, 0) &&
         AllAre(c.data_dilate, 1) && c.input == c.output;
}

// Sums over windows of `operand`, channel by channel, times a constant.
struct WindowSums {
  Expr sum;          // the reduction
  double terms = 0;  // of each, where all have equally many; else 0
  double scale = 1;
};

std::optional<WindowSums> WindowSumsOf(const Expr& value) {
  WindowSums sums{value};
  if (value->kind == ExprKind::kBinary &&
      value->args[1]->kind == ExprKind::kConst) {
    const double factor = value->args[1]->number;
    if (value->binary == BinaryOp::kDiv) sums.scale = 1 / factor;
    if (value->binary == BinaryOp::kMul) sums.scale = factor;
    if (sums.scale != 1) sums.sum = value->args[0];
  }
  if (sums.sum->kind != ExprKind::kReduce ||
      sums.sum->reduce != ReduceOp::kSum) {
    return std::nullopt;
  }
  const Expr& load = sums.sum->args[0];
  if (load->kind != ExprKind::kLoad || load->args.size() < 3) {
    return std::nullopt;
  }
  const auto own = [&](int axis) {
    return load->args[axis]->kind == ExprKind::kVar &&
           load->args[axis]->index == axis;
  };
  if (!own(0) || !own(1)) return std::nullopt;
  for (size_t axis = 2; axis < load->args.size(); ++axis) {
    if (UsesVar(load->args[axis], 1)) return std::nullopt;
  }
  sums.terms = 1;
  for (const Range& range : sums.sum->ranges) {
    if (UsesVar(range.begin, 1) || UsesVar(range.end, 1) ||
        HasLoads(range.begin) || HasLoads(range.end)) {
      return std::nullopt;
    }
    const Expr extent =
        Simplify(range.end - range.begin, [](int) { return std::nullopt; });
    sums.terms *= extent->kind == ExprKind::kConst ? extent->number : 0;
  }
  return sums;
}

// acc, or acc and a bias of the channel.
bool MayFollowSums(const Expr& epilogue, const WindowSums& sums) {
  if (epilogue->kind == ExprKind::kAcc) return true;
  if (epilogue->kind != ExprKind::kBinary ||
      epilogue->binary != BinaryOp::kAdd ||
      epilogue->args[0]->kind != ExprKind::kAcc) {
    return false;
  }
  const std::vector<int> vars = FreeVars(epilogue->args[1]);
  return std::fabs(sums.terms * sums.scale - 1) < kRounding &&
         std::ranges::all_of(vars, [](int var) { return var == 1; });
}

// The convolution and the pooling in the other order, with what the first of
// them leaves to the other.
struct PoolingFirst {
  Step pooling, convolution;
  Buffer between;
};

Buffer Between(std::string name, DType dtype, const Extents& dims) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.type = {dtype, Shape(dims)};
  buffer.layout = Layout::RowMajor(buffer.type.shape);
  return buffer;
}

// Returns whether all is of one type of floats in which sums are formed: the
// order of the two is then a matter of its last bits.
bool IsOneFloat(const Program& program, const Step& convolution,
                const Step& pooling) {
  const ContractionTypes& types = convolution.contraction()->contraction.types;
  const auto is_sum = [&](int buffer) {
    return program.buffers[buffer].type.dtype == types.sum;
  };
  return IsFloat(types.sum) && types == ContractionTypes::All(types.sum) &&
         is_sum(pooling.inputs[0]) && is_sum(pooling.outputs[0]);
}

// A step that does nothing but sum over windows of its only input.
std::optional<WindowSums> PoolingOf(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.view || map->stores.size() != 1 ||
      step.outputs.size() != 1 || step.inputs.size() != 1 ||
      !CoversOutput(program, step, map->stores[0])) {
    return std::nullopt;
  }
  const auto rank = [&](int buffer) {
    return program.buffers[buffer].type.shape.rank();
  };
  if (rank(step.inputs[0]) != rank(step.outputs[0])) return std::nullopt;
  return WindowSumsOf(map->stores[0].value);
}

std::optional<PoolingFirst> PoolFirst(const Program& program,
                                      const Step& convolution,
                                      const Step& pooling) {
  if (convolution.contraction() == nullptr ||
      !IsPointwiseConvolution(convolution.contraction()->contraction)) {
    return std::nullopt;
  }
  const auto sums = PoolingOf(program, pooling);
  if (!sums || !IsOneFloat(program, convolution, pooling) ||
      !MayFollowSums(convolution.contraction()->epilogue, *sums)) {
    return std::nullopt;
  }
  const Buffer& data = program.buffers[convolution.inputs[0]];
  Extents dims = program.buffers[pooling.outputs[0]].type.shape.dims();
  dims[1] = data.type.shape[1];
  PoolingFirst result{pooling, convolution,
                      Between(data.name + "/pooled", data.type.dtype, dims)};
  result.pooling.inputs = {convolution.inputs[0]};
  result.pooling.map()->stores[0].extent = dims;
  result.convolution.outputs = pooling.outputs;
  Contraction& c = result.convolution.contraction()->contraction;
  c.input = c.output = Extents(dims.begin() + 2, dims.end());
  return result;
}

// The pooling takes over the epilogue. Operand 0 of the convolution is pooled.
std::optional<PoolingFirst> ConvolveFirst(const Program& program,
                                          const Step& pooling,
                                          const Step& convolution) {
  const ContractionStep* body = convolution.contraction();
  if (body == nullptr || !IsPointwiseConvolution(body->contraction) ||
      !PoolingOf(program, pooling) ||
      !IsOneFloat(program, convolution, pooling) ||
      convolution.inputs[0] != pooling.outputs[0] ||
      std::ranges::count(convolution.inputs, pooling.outputs[0]) != 1) {
    return std::nullopt;
  }
  bool whole = false;  // the epilogue reads the operands themselves
  VisitLoads(body->epilogue, [&](const ExprNode& load) {
    whole |= load.index < FixedOperands(convolution);
  });
  if (whole) return std::nullopt;
  const Buffer& out = program.buffers[convolution.outputs[0]];
  Extents dims = program.buffers[pooling.inputs[0]].type.shape.dims();
  dims[1] = out.type.shape[1];
  PoolingFirst result{pooling, convolution,
                      Between(out.name + "/unpooled", out.type.dtype, dims)};
  result.convolution.inputs = {pooling.inputs[0], convolution.inputs[1]};
  result.convolution.contraction()->epilogue = Acc(body->contraction.types.sum);
  Contraction& c = result.convolution.contraction()->contraction;
  c.input = c.output = Extents(dims.begin() + 2, dims.end());

  Step& sum = result.pooling;
  sum.outputs = convolution.outputs;
  sum.inputs.assign(convolution.inputs.begin() + 2, convolution.inputs.end());
  const int summed = static_cast<int>(sum.inputs.size());
  Store& store = sum.map()->stores[0];
  const Expr average = Rewrite(store.value, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::kLoad ? Load(summed, e->dtype, e->args)
                                      : Expr();
  });
  store.value = Rewrite(body->epilogue, [&](const Expr& e) -> Expr {
    if (e->kind == ExprKind::kAcc) return average;
    return e->kind == ExprKind::kLoad ? Load(e->index - 2, e->dtype, e->args)
                                      : Expr();
  });
  store.extent = out.type.shape.dims();
  return result;
}

class PoolingExchange {
 public:
  PoolingExchange(Program& program, const PassContext& context)
      : program_(program),
        catalog_(*context.catalog),
        machine_(context.machine()),
        uses_(program) {}

  bool Run() {
    bool changed = false;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      if (step.outputs.size() != 1) continue;
      const int result = step.outputs[0];
      const int reader = uses_.OnlyReaderOf(result);
      if (program_.buffers[result].kind != BufferKind::kInternal ||
          reader < 0) {
        continue;
      }
      if (!Exchange(static_cast<int>(s), reader)) continue;
      changed = true;
      --s;  // another step is there now
    }
    return changed;
  }

 private:
  // Step `first` and its reader, which then run where the reader did: all that
  // both read is there.
  bool Exchange(int first, int second) {
    const Step &before = program_.steps[first], &after = program_.steps[second];
    const bool pools = before.contraction() != nullptr;
    auto exchanged = pools ? PoolFirst(program_, before, after)
                           : ConvolveFirst(program_, before, after);
    const auto pure = [](const Step& step) { return step.body.pure(); };
    if (!exchanged || !std::all_of(program_.steps.begin() + first,
                                   program_.steps.begin() + second, pure)) {
      return false;
    }
    Step& now_first = pools ? exchanged->pooling : exchanged->convolution;
    Step& now_second = pools ? exchanged->convolution : exchanged->pooling;
    if (SecondsOf(now_first, now_second) >= SecondsOf(before, after)) {
      return false;
    }
    const auto between = static_cast<int>(program_.buffers.size());
    program_.buffers.push_back(std::move(exchanged->between));
    now_first.outputs = {between};
    if (pools) {
      now_second.inputs[0] = between;
    } else {
      now_second.inputs.push_back(between);
    }
    uses_.Replace(second, std::move(now_second));
    uses_.Replace(first, std::move(now_first));
    uses_.MoveBefore(first, second);
    return true;
  }

  double SecondsOf(const Step& first, const Step& second) const {
    double seconds = 0;
    for (const Step* step : {&first, &second}) {
      if (const ContractionStep* body = step->contraction()) {
        const bool constant =
            program_.buffers[step->inputs[1]].kind == BufferKind::kConstant;
        seconds +=
            KernelSeconds(catalog_, body->contraction, constant).value_or(0);
      } else {
        seconds +=
            HoistedCost(step->map()->stores[0]) / machine_.elements_per_second;
      }
    }
    return seconds;
  }

  Program& program_;
  const KernelCatalog& catalog_;
  const Machine& machine_;
  StepUses uses_;
};

}  // namespace

Result<bool> ExchangePooling(Program& program, PassContext& context) {
  const auto pointwise = [](const Step& step) {
    return step.contraction() &&
           IsPointwiseConvolution(step.contraction()->contraction);
  };
  if (context.catalog == nullptr ||
      std::ranges::none_of(program.steps, pointwise)) {
    return false;
  }
  const bool changed = PoolingExchange(program, context).Run();
  if (changed) RemoveUnusedBuffers(program);
  return changed;
}

}  // namespace mxc
