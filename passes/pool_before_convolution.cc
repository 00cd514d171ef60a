// SPDX-License-Identifier: Apache-2.0
// pool-before-convolution: sums over windows of what a 1x1 convolution yields
// are taken of its data instead: both are linear, one over pixels, the other
// over channels, and the convolution has fewer pixels left.
//
//   y[128, 56, 56] = conv 1x1 (x[256, 56, 56])
//   z[128, 28, 28] = Σ y[c, 2i … 2i + 2, 2j … 2j + 2] / 4
//                                     ⇒   p[256, 28, 28] = Σ x[…] / 4
//                                         z[128, 28, 28] = conv 1x1 (p)
//
// A bias stays the convolution's where the sum is an average of equally many
// pixels everywhere. Applied where the estimates say that it pays.
#include <algorithm>
#include <cmath>
#include <optional>

#include "passes/evaluation_cost.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_seconds.h"
#include "passes/sweep.h"

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

// The convolution and the pooling in the other order.
struct Exchanged {
  Step pooling, convolution;
  Buffer pooled;
};

std::optional<Exchanged> Exchange(const Program& program,
                                  const Step& convolution,
                                  const Step& pooling) {
  const ContractionStep& body = *convolution.contraction();
  const Map* map = pooling.map();
  if (map == nullptr || pooling.view || map->stores.size() != 1 ||
      pooling.outputs.size() != 1 || pooling.inputs.size() != 1 ||
      !IsPointwiseConvolution(body.contraction)) {
    return std::nullopt;
  }
  const Buffer& data = program.buffers[convolution.inputs[0]];
  const TensorType& out = program.buffers[pooling.outputs[0]].type;
  const Store& store = map->stores[0];
  const auto sums = WindowSumsOf(store.value);
  if (!sums || !MayFollowSums(body.epilogue, *sums) ||
      out.shape.rank() != data.type.shape.rank() ||
      data.type.dtype != out.dtype || !CoversOutput(program, pooling, store)) {
    return std::nullopt;
  }
  Exchanged result{pooling, convolution, {}};
  Extents dims = out.shape.dims();
  dims[1] = data.type.shape[1];
  result.pooled.name = data.name + "/pooled";
  result.pooled.type = {data.type.dtype, Shape(dims)};
  result.pooled.layout = Layout::RowMajor(result.pooled.type.shape);
  result.pooling.inputs = {convolution.inputs[0]};
  result.pooling.map()->stores[0].extent = dims;
  result.convolution.outputs = pooling.outputs;
  Contraction& c = result.convolution.contraction()->contraction;
  c.input = c.output = Extents(dims.begin() + 2, dims.end());
  return result;
}

double SecondsOf(const Program& program, const KernelCatalog& catalog,
                 const Step& convolution, const Step& pooling) {
  const Contraction& c = convolution.contraction()->contraction;
  const bool constant =
      program.buffers[convolution.inputs[1]].kind == BufferKind::kConstant;
  return KernelSeconds(catalog, c, constant).value_or(0) +
         HoistedCost(pooling.map()->stores[0]) / kUnitsPerSecond;
}

}  // namespace

Result<bool> PoolBeforeConvolution(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  bool changed = false;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& convolution = program.steps[s];
    if (convolution.contraction() == nullptr) continue;
    const int result = convolution.outputs[0];
    const std::vector<int> readers = ReadersOf(program, result);
    if (program.buffers[result].kind != BufferKind::kInternal ||
        readers.size() != 1) {
      continue;
    }
    const auto p = static_cast<size_t>(readers[0]);
    auto exchanged = Exchange(program, convolution, program.steps[p]);
    if (!exchanged || SecondsOf(program, *context.catalog,
                                exchanged->convolution, exchanged->pooling) >=
                          SecondsOf(program, *context.catalog, convolution,
                                    program.steps[p])) {
      continue;
    }
    const auto pooled = static_cast<int>(program.buffers.size());
    program.buffers.push_back(std::move(exchanged->pooled));
    exchanged->pooling.outputs = {pooled};
    exchanged->convolution.inputs[0] = pooled;
    program.steps[s] = std::move(exchanged->pooling);
    program.steps[p] = std::move(exchanged->convolution);
    changed = true;
  }
  if (changed) DropUnusedBuffers(program);
  return changed;
}

}  // namespace mxc
