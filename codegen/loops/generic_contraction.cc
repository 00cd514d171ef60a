// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/generic_contraction.h"

#include <functional>

#include "codegen/loops/product_terms.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/strided_pairs.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using Indices = ContractionIndices;

Expr IndexOf(Role role, const Contraction& c, const ContractionIndices& at) {
  switch (role) {
    case Role::kBatch:
      return at.batch;
    case Role::kGroup:
      return at.group;
    case Role::kIn:
      return at.in;
    case Role::kOut:
      return at.out;
    case Role::kGroupIn:
      return at.group * Expr(c.in) + at.in;
    case Role::kGroupOut:
      return at.group * Expr(c.out) + at.out;
    case Role::kGroupBatch:
      return at.group * Expr(c.batch) + at.batch;
    default:
      break;
  }
  return at.spatial[static_cast<size_t>(role) -
                    static_cast<size_t>(Role::kSpatial0)];
}

// The output's index variables, read as its axes' roles.
Indices OutputIndices(const Contraction& c) {
  Indices at{0, 0, 0, 0, {0, 0, 0}};
  for (size_t axis = 0; axis < c.output_axes.size(); ++axis) {
    const Expr i = Var(static_cast<int>(axis));
    switch (c.output_axes[axis]) {
      case Role::kBatch:
        at.batch = i;
        break;
      case Role::kGroup:
        at.group = i;
        break;
      case Role::kOut:
        at.out = i;
        break;
      case Role::kGroupOut:
        at.group = c.groups > 1 ? i / Expr(c.out) : Expr(0);
        at.out = c.groups > 1 ? i % Expr(c.out) : i;
        break;
      case Role::kGroupBatch:
        at.group = c.groups > 1 ? i / Expr(c.batch) : Expr(0);
        at.batch = c.groups > 1 ? i % Expr(c.batch) : i;
        break;
      case Role::kSpatial0:
        at.spatial[0] = i;
        break;
      case Role::kSpatial1:
        at.spatial[1] = i;
        break;
      case Role::kSpatial2:
        at.spatial[2] = i;
        break;
      default:
        MXC_CHECK(false, "role of an output axis");
    }
  }
  return at;
}

// Returns whether data has zeros where the windows leave it along a spatial
// axis.
bool HaloCovers(const Contraction& c, const Layout& layout, size_t s) {
  for (size_t axis = 0; axis < c.data_axes.size(); ++axis) {
    const auto role = static_cast<size_t>(c.data_axes[axis]);
    if (role != static_cast<size_t>(Role::kSpatial0) + s) continue;
    const int64_t last = (c.output[s] - 1) * c.stride[s] +
                         (c.kernel[s] - 1) * c.dilate[s] - c.pad[s];
    return layout.halo_low[axis] >= c.pad[s] &&
           layout.halo_high[axis] >= last - (c.input[s] - 1);
  }
  return false;
}

// The terms of one spatial axis: for every r of a range, an element of data and
// a kernel position.
struct Taps {
  Expr begin = 0, end = 0;
  std::function<Expr(const Expr& r)> data, kernel;
  std::function<Expr(const Expr& r)> meets;  // empty: everywhere
};

// Every kernel position, with a test of what it meets.
Taps AllTaps(const Contraction& c, size_t s, const Expr& o, bool halo) {
  const int64_t dilate = c.dilate[s], kernel = c.kernel[s], pad = c.pad[s];
  const int64_t spread = c.data_dilate[s], length = c.input[s];
  const Expr first = o * Expr(c.stride[s]);
  const auto at = [=](const Expr& r) {
    return first + r * Expr(dilate) - Expr(pad);
  };
  Taps taps;
  taps.end = kernel;
  taps.kernel = [flip = c.flip, kernel](const Expr& r) {
    return flip ? Expr(kernel - 1) - r : r;
  };
  if (spread == 1) {
    taps.data = at;
    if (halo) return taps;
    taps.meets = [=](const Expr& r) {
      return Expr(0) <= at(r) && at(r) < Expr(length);
    };
    return taps;
  }
  taps.data = [=](const Expr& r) { return at(r) / Expr(spread); };
  taps.meets = [=](const Expr& r) {
    return Expr(0) <= at(r) && at(r) < Expr(length * spread) &&
           at(r) % Expr(spread) == Expr(0);
  };
  return taps;
}

// Of spread data (a transposed convolution), only the positions that meet
// elements.
Taps PhaseTaps(const Contraction& c, size_t s, const Expr& o) {
  const int64_t whole = c.dilate[s] * (c.kernel[s] - 1) - c.pad[s];
  const StridedPairs pairs =
      PairsThatMeet(o + Expr(whole), {c.dilate[s], c.kernel[s]},
                    {c.data_dilate[s], c.input[s]});
  return {pairs.begin, pairs.end, pairs.second, pairs.first, {}};
}

Taps TapsOf(const Contraction& c, size_t s, const Expr& o,
            const Layout& layout) {
  const bool transposed = c.data_dilate[s] > 1 && c.flip && c.stride[s] == 1 &&
                          c.pad[s] <= c.dilate[s] * (c.kernel[s] - 1);
  return transposed ? PhaseTaps(c, s, o)
                    : AllTaps(c, s, o, HaloCovers(c, layout, s));
}

Expr SumOf(const Contraction& c, const Buffer& data, const Buffer& weight,
           TapRange range) {
  const DType dtype = c.types.sum;
  std::vector<Range> ranges;
  const ProductTerms terms =
      TermsOf(c, data, weight, OutputIndices(c), range,
              [&](const Expr& begin, const Expr& end) {
                ranges.push_back({FreshReductionVar(), begin, end});
                return Var(ranges.back().var);
              });
  const Expr product = Cast(terms.data, dtype) * Cast(terms.weight, dtype);
  return Reduce(ReduceOp::kSum, std::move(ranges),
                Select(terms.inside, product, Constant(0, dtype)));
}

Expr MaximaOf(const ContractionStep& step, const Expr& value) {
  if (step.maxima.empty()) return value;
  const std::vector<Role>& axes = step.contraction.output_axes;
  std::vector<Range> ranges;
  std::vector<Expr> at;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    at.push_back(Var(static_cast<int>(axis)));
    if (axes[axis] < Role::kSpatial0) continue;
    const int64_t window = step.maxima[static_cast<size_t>(axes[axis]) -
                                       static_cast<size_t>(Role::kSpatial0)];
    ranges.push_back({FreshReductionVar(), 0, Expr(window)});
    at.back() = at.back() * Expr(window) + Var(ranges.back().var);
  }
  const Expr moved = SubstituteVars(value, [&](int var) {
    return static_cast<size_t>(var) < at.size() ? at[static_cast<size_t>(var)]
                                                : Expr();
  });
  return Reduce(ReduceOp::kMax, std::move(ranges), moved);
}

// The weight is one of two that share a byte, and the scale of its group.
ProductTerms Int4Terms(const Contraction& c, const Buffer& data,
                       const ContractionIndices& out, const OverRange& over) {
  const int64_t group = c.int4_group;
  const Expr b = over(0, Expr(c.in / group)), j = over(0, Expr(group / 2)),
             h = over(0, 2);
  ContractionIndices in = out;
  in.in = b * Expr(group) + j * Expr(2) + h;
  const auto load = [&](const Expr& byte) {
    return Load(1, DType::kU8, {out.out, byte});
  };
  return {Constant(1, DType::kBool),
          Load(0, data.type.dtype, IndicesOf(c.data_axes, c, in)),
          Int4Level(load, b, j, h, group, c.types.sum)};
}

}  // namespace

std::vector<Expr> IndicesOf(const std::vector<Role>& axes, const Contraction& c,
                            const ContractionIndices& at) {
  std::vector<Expr> indices;
  for (const Role role : axes) indices.push_back(IndexOf(role, c, at));
  return indices;
}

ProductTerms TermsOf(const Contraction& c, const Buffer& data,
                     const Buffer& weight, const ContractionIndices& out,
                     TapRange range, const OverRange& over) {
  if (c.int4_group > 0) return Int4Terms(c, data, out, over);
  ContractionIndices in = out, taps = out;
  in.in = taps.in = over(0, Expr(c.in));
  Expr inside = Constant(1, DType::kBool);
  for (size_t s = 0; s < c.kernel.size(); ++s) {
    const bool differ = range == TapRange::kMeetingOfVectors &&
                        s + 1 == c.kernel.size() && c.kernel[s] < c.input[s];
    const Taps axis = range == TapRange::kAll || differ
                          ? AllTaps(c, s, out.spatial[s], /*halo=*/false)
                          : TapsOf(c, s, out.spatial[s], data.layout);
    const Expr r = over(axis.begin, axis.end);
    taps.spatial[s] = axis.kernel(r);
    in.spatial[s] = axis.data(r);
    if (axis.meets) inside = inside && axis.meets(r);
  }
  return {inside, Load(0, data.type.dtype, IndicesOf(c.data_axes, c, in)),
          Load(1, weight.type.dtype, IndicesOf(c.weight_axes, c, taps))};
}

Map MapOfContraction(const Program& program, const Step& step,
                     const Dealing& dealing) {
  const ContractionStep& contraction = *step.contraction();
  const auto buffer = [&](int id) -> const Buffer& {
    return program.buffers[static_cast<size_t>(id)];
  };
  const Contraction& c = contraction.contraction;
  const bool side_by_side = buffer(step.outputs[0]).layout.row_major() &&
                            c.output_axes.back() >= Role::kSpatial0;
  const Expr sum =
      SumOf(c, buffer(step.inputs[0]), buffer(step.inputs[1]),
            dealing.common_taps && side_by_side ? TapRange::kMeetingOfVectors
                                                : TapRange::kMeeting);
  const Expr value = Rewrite(contraction.epilogue, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::kAcc ? sum : Expr();
  });
  const Shape& shape = buffer(step.outputs[0]).type.shape;
  return Map{{{0, Extents(static_cast<size_t>(shape.rank()), 0), shape.dims(),
               MaximaOf(contraction, value)}}};
}

}  // namespace mxc
