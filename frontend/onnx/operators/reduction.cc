// SPDX-License-Identifier: Apache-2.0
// Reductions along axes. Axes are an attribute of old versions and an input of
// newer ones; both are read whatever the version is.
#include <algorithm>

#include "frontend/onnx/call.h"

namespace mxc::onnx {
namespace {

struct Reduction {
  Value x;
  Extents axes;  // empty: nothing is reduced
  bool keep = true;
};

Reduction ReductionOf(Call& c) {
  Reduction of{c.In(0), {}, c.Flag("keepdims", true)};
  const bool nothing = c.Flag("noop_with_empty_axes");
  const int rank = of.x.shape().rank();
  std::optional<Extents> axes = c.Ints("axes");
  if (c.Has(1)) axes = c.NeedInts(1, "axes");
  if (axes && !axes->empty()) {
    of.axes = c.Axes(*axes, rank);
  } else if (!nothing) {
    for (int axis = 0; axis < rank; ++axis) of.axes.push_back(axis);
  }
  return of;
}

Value Reduce(Call& c, const Reduction& of, std::string_view op, Value x) {
  if (of.axes.empty()) return x;
  return c.Op(
      op, {x},
      {{"axis", TupleText(of.axes)}, {"keepdims", of.keep ? "True" : "False"}});
}

Value WithoutAxes(Call& c, const Reduction& of, Value x) {
  if (of.keep) return x;
  Extents dims;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    if (!std::ranges::binary_search(of.axes, axis)) {
      dims.push_back(x.shape()[axis]);
    }
  }
  return c.Reshape(x, dims);
}

}  // namespace

#define MXC_ONNX_REDUCTION(name, op)     \
  void Import##name(Call& c) {           \
    const Reduction of = ReductionOf(c); \
    c.Give(0, Reduce(c, of, op, of.x));  \
  }
MXC_ONNX_REDUCTION(ReduceSum, "_np_sum")
MXC_ONNX_REDUCTION(ReduceProd, "_np_prod")
MXC_ONNX_REDUCTION(ReduceMax, "_np_max")
MXC_ONNX_REDUCTION(ReduceMin, "_np_min")
#undef MXC_ONNX_REDUCTION

void ImportReduceL1(Call& c) {
  const Reduction of = ReductionOf(c);
  c.Give(0, Reduce(c, of, "_np_sum", c.Abs(of.x)));
}
void ImportReduceL2(Call& c) {
  const Reduction of = ReductionOf(c);
  c.Give(0, c.Sqrt(Reduce(c, of, "_np_sum", c.Square(of.x))));
}
void ImportReduceSumSquare(Call& c) {
  const Reduction of = ReductionOf(c);
  c.Give(0, Reduce(c, of, "_np_sum", c.Square(of.x)));
}
void ImportReduceLogSum(Call& c) {
  const Reduction of = ReductionOf(c);
  c.Give(0, c.Log(Reduce(c, of, "_np_sum", of.x)));
}

// The greatest is taken out before the exponential.
void ImportReduceLogSumExp(Call& c) {
  Reduction of = ReductionOf(c);
  if (of.axes.empty()) return c.Give(0, of.x);
  Reduction kept = of;
  kept.keep = true;
  const Value most = Reduce(c, kept, "_np_max", of.x);
  const Value sum = Reduce(c, kept, "_np_sum", c.Exp(c.Sub(of.x, most)));
  c.Give(0, WithoutAxes(c, of, c.Add(c.Log(sum), most)));
}

// Of integers: towards zero.
void ImportReduceMean(Call& c) {
  const Reduction of = ReductionOf(c);
  const DType dtype = of.x.type().dtype;
  if (IsFloat(dtype)) return c.Give(0, Reduce(c, of, "_npi_mean", of.x));
  const Value sum = Reduce(c, of, "_np_sum", c.Cast(of.x, DType::kI64));
  int64_t count = 1;
  for (const int64_t axis : of.axes)
    count *= of.x.shape()[static_cast<int>(axis)];
  c.Give(0, c.Cast(c.Div(sum, c.ScalarLike(static_cast<double>(count), sum)),
                   dtype));
}

namespace {

// The first of equal ones, or the last.
void Extremum(Call& c, std::string_view op) {
  const bool last = c.Flag("select_last_index");
  const bool keep = c.Flag("keepdims", true);
  Value x = c.In(0);
  const int axis = c.Axis(c.Int("axis", 0), x.shape().rank());
  if (last) x = c.Op("reverse", {x}, {{"axis", std::to_string(axis)}});
  Value at = c.Op(
      op, {x},
      {{"axis", std::to_string(axis)}, {"keepdims", keep ? "True" : "False"}});
  at = c.Cast(at, DType::kI64);
  if (last) {
    const auto most = static_cast<double>(x.shape()[axis] - 1);
    at = c.Sub(c.ScalarLike(most, at), at);
  }
  c.Give(0, at);
}

}  // namespace

void ImportArgMax(Call& c) { Extremum(c, "_npi_argmax"); }
void ImportArgMin(Call& c) { Extremum(c, "_npi_argmin"); }

}  // namespace mxc::onnx
