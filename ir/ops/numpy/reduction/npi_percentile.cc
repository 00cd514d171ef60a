// SPDX-License-Identifier: Apache-2.0
// _npi_percentile: what q percent of the elements along axes are not above.
//   a, q    q a number (q_scalar) or [Q…] of rank 0 or 1
//   output  [Q…, the other axes of a], all axes of a with keepdims, of extent 1
//           those that are sorted; f64 of f64, else f32
// Of n sorted elements the percentile q is at q·(n − 1) / 100; see
// np_percentile.h. NaN is the greatest number. Gradients do not pass, as in MXNet.
// C1  axes are in range, each once
// C2  q has at most one axis
// C3  q_scalar is from 0 to 100; an input q is clipped to that
// Source: MXNet 1.9.1 operator/numpy/np_percentile_op-inl.h.
#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/reduction/np_percentile.h"
#include "ir/ops/numpy/reduction/percentile_of_sorted.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiPercentileAttrs {
  std::optional<Extents> axis;
  PercentileAt interpolation = PercentileAt::kLinear;
  bool keepdims = false;
  std::optional<double> q_scalar;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes that are sorted; None: all");
    DescribePercentile(f, interpolation);
    f("keepdims", keepdims).Doc("keep the axes, of extent 1");
    f("q_scalar", q_scalar).Doc("percents; None: an input");
  }

  Extents axes(int rank) const { return axis ? *axis : AllAxes(rank); }
};

std::optional<std::string> CheckPercentile(const NpiPercentileAttrs& a) {
  const double q = a.q_scalar.value_or(0);
  if (0 <= q && q <= 100) return std::nullopt;
  return fmt::format("C3: q_scalar {}, expected 0 to 100", q);
}

void NpiPercentileTypes(const NpiPercentileAttrs& a, TypeInference& t) {
  t.SetOutDType(0, PercentileType(t.InDType(0)));
  if (!t.In(0).known() || (!a.q_scalar && !t.In(1).known())) return;
  const Shape& data = t.In(0);
  const auto axes = RequireAxes(t, "C1", a.axes(data.rank()), data.rank());
  if (!axes) return;
  Extents dims = a.q_scalar ? Extents() : t.In(1).dims();
  if (!t.Require(dims.size() <= 1, "C2: q has shape {}", ToString(dims))) {
    return;
  }
  for (int axis = 0; axis < data.rank(); ++axis) {
    const bool sorted = std::ranges::count(*axes, axis) > 0;
    if (!sorted) dims.push_back(data[axis]);
    if (sorted && a.keepdims) dims.push_back(1);
  }
  t.SetOut(0, Shape(dims));
}

std::vector<Value> NpiPercentileParts(const NpiPercentileAttrs& a,
                                      const Node& node, GraphBuilder& b) {
  const Value data = node.inputs[0];
  const int rank = data.shape().rank();
  Extents order, last;
  for (const int64_t axis : a.axes(rank)) {
    last.push_back(*ResolveAxis(axis, rank));
  }
  std::ranges::sort(last);
  int64_t n = 1;
  for (const int64_t axis : last) n *= data.shape()[static_cast<int>(axis)];
  for (const int64_t axis : AllAxes(rank)) {
    if (std::ranges::count(last, axis) == 0) order.push_back(axis);
  }
  order.insert(order.end(), last.begin(), last.end());
  const Value rows = b.Reshape(Transposed(b, data, order),
                               Shape{data.shape().elements() / n, n});
  Value q =
      a.q_scalar ? b.Scalar(*a.q_scalar) : b.Cast(node.inputs[1], DType::kF32);
  q = b.Reshape(q, Shape{q.shape().elements()});
  const Value found = b.Op<op::PercentileOfSorted>(
      {b.Op<op::Sort>({rows}), q}, {.interpolation = a.interpolation});
  return {b.Reshape(found, node.types[0].shape)};
}

}  // namespace

MXC_OP(NpiPercentile) {
  return Op<NpiPercentileAttrs>("_npi_percentile")
      .Doc("percentiles of the elements along axes")
      .InputsOf([](const NpiPercentileAttrs& a) {
        std::vector<InputSpec> inputs = {{"a"}};
        if (!a.q_scalar) inputs.push_back({"q"});
        return inputs;
      })
      .Check(CheckPercentile)
      .Types(NpiPercentileTypes)
      .Decompose(NpiPercentileParts)
      .ZeroGradient();
}

}  // namespace mxc
