// SPDX-License-Identifier: Apache-2.0
// _npi_average: numpy.average.
//   a  f[…]     weights  of a's shape, or [n] for the one axis; none without
//               `weighted`: 1
//   output  Σ a · weights / Σ weights over `axis`
//   sum of weights  of output's shape, () of a vector or of none; visible with
//           `returned`; no gradient passes through it, as in MXNet
// C1  axes are in range and distinct
// C2  weights have a's shape, or are a vector as long as the one axis
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiAverageAttrs {
  std::optional<Extents> axis;
  bool returned = false;
  bool weighted = true;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to average over; None: all");
    f("returned", returned).Doc("whether the sum of weights can be read");
    f("weighted", weighted).Doc("whether weights are given");
  }
  ReductionAttrs reduction() const { return {axis, false, false}; }
};

std::vector<InputSpec> NpiAverageInputs(const NpiAverageAttrs& attrs) {
  if (!attrs.weighted) return {{"a"}};
  return {{"a"}, {"weights"}};
}

std::optional<std::string> CheckNpiAverage(const NpiAverageAttrs& attrs) {
  if (attrs.axis && attrs.axis->empty()) return "C1: axis () is not supported";
  return std::nullopt;
}

void NpiAverageTypes(const NpiAverageAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  NpReductionShape(attrs.reduction(), t);
  if (t.In(0).known_rank()) {
    t.Require(t.In(0).rank() > 0, "C1: a has no axis");
  }
  if (t.error() || !t.Out(0).known()) return;
  if (!attrs.weighted) return t.SetOut(1, Shape(Extents{}));
  if (!t.In(1).known()) return;
  const Shape &a = t.In(0), &weights = t.In(1);
  const Extents axes = ReducedAxes(attrs.reduction(), a.rank());
  const bool vector = weights.rank() == 1 && axes.size() == 1 &&
                      weights[0] == a[static_cast<int>(axes[0])];
  t.Require(vector || weights == a, "C2: weights have shape {}, a {}",
            ToString(weights), ToString(a));
  t.SetOut(1, weights == a ? t.Out(0) : Shape(Extents{}));
}

// A vector of weights so that it broadcasts with a.
Value AlongAxis(GraphBuilder& b, Value weights, const Shape& a, int64_t axis) {
  if (weights.shape() == a) return weights;
  Extents dims(a.dims().size(), 1);
  dims[axis] = weights.shape()[0];
  return b.BroadcastTo(b.Reshape(weights, Shape(dims)), a);
}

std::vector<Value> NpiAverageParts(const NpiAverageAttrs& attrs,
                                   const Node& node, GraphBuilder& b) {
  const Value a = node.inputs[0];
  const Extents axes = ReducedAxes(attrs.reduction(), a.shape().rank());
  const Value weights = attrs.weighted
                            ? AlongAxis(b, node.inputs[1], a.shape(), axes[0])
                            : b.Ones(a.type());
  const Value totals = b.Sum(weights, axes);
  const Value average = b.Div(b.Sum(b.Mul(a, weights), axes), totals);
  // All alike where weights are a vector, or none.
  const Shape& told = node.types[1].shape;
  const Value total =
      told == node.types[0].shape ? totals : b.Op<op::Max>({totals});
  return {b.Reshape(average, node.types[0].shape),
          b.Op<op::BlockGrad>({b.Reshape(total, told)})};
}

}  // namespace

MXC_OP(NpiAverage) {
  return Op<NpiAverageAttrs>("_npi_average")
      .Doc("numpy.average")
      .InputsOf(NpiAverageInputs)
      .Outputs({"output0", "output1"})
      .VisibleOutputsOf(
          [](const NpiAverageAttrs& attrs) { return attrs.returned ? 2 : 1; })
      .Check(CheckNpiAverage)
      .Types(NpiAverageTypes)
      .FloatsOnly()
      .Decompose(NpiAverageParts);
}

}  // namespace mxc
