// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/deal_tasks.h"

#include <algorithm>
#include <bit>

#include "codegen/schedule/cost.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

// How many times the cost of dealing it a task should last.
constexpr double kLaunchesPerTask = 10;
// Halves are worth it earlier: what two threads have written in halves would
// otherwise be gathered by one of them.
constexpr double kLaunchesToHalve = 3;
// What zeroing an element of a border takes of the time for writing one.
constexpr double kZeroing = 0.3;
constexpr int64_t kMostTasks = 64;

int Dims(const LoopNest& nest) { return static_cast<int>(nest.dims.size()); }

const LoopDim& DimAt(const LoopNest& nest, int i) {
  return nest.dims[static_cast<size_t>(i)];
}

// Every element is at least written, those of the border, too.
double NanosecondsToWrite(const Machine& machine, const LoopNest& nest) {
  int64_t bytes = 0;
  for (const Expr& value : nest.values) bytes += SizeOf(value->dtype);
  const double each =
      1e9 * static_cast<double>(bytes) / machine.write_bytes_per_second;
  int64_t elements = 1, border = 0;
  for (const LoopDim& dim : nest.dims) elements *= dim.extent;
  for (const ZeroBorder& zeros : nest.borders) {
    border += zeros.rows() * (zeros.low + zeros.high);
  }
  return each * (static_cast<double>(elements) +
                 kZeroing * static_cast<double>(border));
}

double Estimate(const Machine& machine, const LoopNest& nest) {
  const int lane_var = nest.lane_dim < 0 ? -1 : DimAt(nest, nest.lane_dim).var;
  CostContext context;
  context.lanes = nest.lanes;
  context.trips = [&](int var) {
    const auto dim = std::ranges::find(nest.dims, var, &LoopDim::var);
    return dim == nest.dims.end() ? 1 : dim->extent;
  };
  context.jumps = [&](const ExprNode& load) {
    if (lane_var < 0) return false;
    const Affine at = ToAffine(load.args[0], nest.Ranges());
    const int64_t stride = at.CoefficientOf(lane_var);
    return at.HidesVar(lane_var) || stride < 0 || stride > 2;
  };
  return NanosecondsToWrite(machine, nest) +
         EstimateNanoseconds(machine, nest.values, context);
}

// A power of 2: shares of different steps then fall to the same threads, in
// whose caches they are.
int64_t TasksWanted(const Machine& machine, double nanoseconds) {
  const double launch = machine.launch_seconds * 1e9;
  const auto wanted = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(
      std::min(static_cast<double>(kMostTasks),
               nanoseconds / (kLaunchesPerTask * launch)))));
  return nanoseconds >= kLaunchesToHalve * launch ? std::max<int64_t>(wanted, 2)
                                                  : wanted;
}

void DealRows(LoopNest& nest, const Shape& shape, const Layout& layout,
              int64_t wanted) {
  const bool rows = PrefersRows(shape, layout) && nest.one_vector &&
                    Dims(nest) >= 3 && nest.lane_dim == Dims(nest) - 1 &&
                    nest.dims[0].stride == layout.strides()[1];
  if (!rows) return;
  nest.row_dim = 1;
  nest.row_chunks = std::min(wanted, nest.dims[1].extent);
}

}  // namespace

bool PrefersRows(const Shape& shape, const Layout& layout) {
  if (shape.rank() != 4 || shape[0] != 1) return false;
  if (layout.dims.size() != 5 || layout.block(1) == 1) return false;
  return 4 * shape[2] * shape[3] >= shape[1];
}

void DealTasks(const Machine& machine, LoopNest& nest, const Shape& shape,
               const Layout& layout) {
  nest.nanoseconds = Estimate(machine, nest);
  const int64_t wanted = TasksWanted(machine, nest.nanoseconds);
  if (wanted < 2) return;
  DealRows(nest, shape, layout, wanted);
  int64_t shares = nest.row_chunks;
  while (shares < wanted && nest.grid_dims < Dims(nest) &&
         nest.grid_dims != nest.row_dim && nest.grid_dims != nest.lane_dim) {
    shares *= DimAt(nest, nest.grid_dims++).extent;
  }
  if (shares < wanted && nest.grid_dims == nest.lane_dim && !nest.one_vector) {
    const int64_t cuts = DivideUp(wanted, shares);
    const int64_t chunk = DivideUp(DimAt(nest, nest.lane_dim).extent, cuts);
    nest.lane_chunk = DivideUp(chunk, nest.lanes) * nest.lanes;
  }
  nest.tasks = std::min(wanted, nest.GridSize());
}

}  // namespace mxc
