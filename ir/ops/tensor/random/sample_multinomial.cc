// SPDX-License-Identifier: Apache-2.0
// _sample_multinomial: classes drawn with given probabilities.
//   data     f[P…, C]   probabilities, of sum 1
//   output   [P…, S…]   classes
//   log_prob f[P…, S…]  the logarithms of their probabilities, with get_prob
// log_prob passes a gradient to the probabilities of what was drawn.
// C1  data has an axis of classes
// C2  the output's type has the number of each class (positions.h)
// Source: MXNet 1.9.1 operator/random/sample_multinomial_op.h.
#include "ir/ops/tensor/random/sample_multinomial.h"

#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/one_hot.h"
#include "ir/ops/tensor/indexing/pick.h"
#include "ir/ops/tensor/indexing/positions.h"

namespace mxc {
namespace {

void MultinomialTypes(const MultinomialAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype);
  if (attrs.get_prob) t.SetOutDType(1, t.InDType(0));
  if (!t.In(0).known_rank()) return;
  if (!t.Require(t.In(0).rank() > 0, "C1: data has no axis")) return;
  Extents dims = t.In(0).dims();
  if (!RequirePositions(t, dims.back(), attrs.dtype)) return;
  dims.pop_back();
  dims.insert(dims.end(), attrs.shape.begin(), attrs.shape.end());
  if (dims.empty()) dims = {1};
  for (int i = 0; i < t.outputs(); ++i) t.SetOut(i, Shape(dims));
}

// The class drawn is how many sums of the first probabilities the number drawn
// is not below, for `rows` rows of `draws` draws each.
std::vector<Value> MultinomialParts(const MultinomialAttrs& attrs,
                                    const Node& node, GraphBuilder& b) {
  const Value data = node.inputs[0];
  const int64_t classes = data.shape()[data.shape().rank() - 1];
  const int64_t rows = data.shape().elements() / std::max<int64_t>(classes, 1);
  int64_t draws = 1;
  for (const int64_t n : attrs.shape) draws *= n;
  const Value table = b.Reshape(b.Cast(data, DType::kF32), {rows, classes});
  const Value sums = b.Op<op::NpCumsum>({table}, {.axis = 1});
  const Value drawn = b.Uniform(Shape{rows, draws, 1}, "multinomial");
  const Value below = b.Op<op::BroadcastLesserEqual>(
      {b.Reshape(sums, {rows, 1, classes}), drawn});
  // Rounding may leave the last sum below 1.
  const Value place = b.Op<op::MinimumScalar>(
      {b.Sum(below, {2})}, {.scalar = static_cast<double>(classes - 1)});
  const Shape& shape = node.types[0].shape;
  std::vector<Value> outputs = {b.Reshape(b.Cast(place, attrs.dtype), shape)};
  if (attrs.get_prob) {
    const Value chosen =
        b.Op<op::Pick>({b.BroadcastTo(b.Reshape(table, {rows, 1, classes}),
                                      {rows, draws, classes}),
                        place},
                       {.axis = -1});
    outputs.push_back(
        b.Reshape(b.Cast(b.Log(chosen), data.type().dtype), shape));
  }
  return outputs;
}

// log_prob alone has a gradient: head / probability for each class drawn.
std::vector<Value> MultinomialGradient(const MultinomialAttrs& attrs,
                                       GradientBuilder& g) {
  if (!attrs.get_prob || !g.HasHead(1)) return g.None();
  const Shape& shape = g.In(0).shape();
  const int64_t classes = shape[shape.rank() - 1];
  const int64_t rows = shape.elements() / classes;
  const int64_t draws = g.Out(1).shape().elements() / rows;
  const DType dtype = g.In(0).type().dtype;
  const Shape by_row{rows, draws, 1};
  const Value slope = g.Reshape(g.Div(g.Head(1), g.Exp(g.Out(1))), by_row);
  const Value drawn = g.Op<op::OneHot>({g.Reshape(g.Out(0), {rows, draws})},
                                       {.depth = classes, .dtype = dtype});
  return {g.Reshape(g.Sum(g.Mul(slope, drawn), {1}), shape)};
}

}  // namespace

MXC_OP(SampleMultinomial) {
  return Op<MultinomialAttrs>("_sample_multinomial")
      .Alias({"sample_multinomial"})
      .Doc("classes drawn with given probabilities")
      .OutputsOf([](const MultinomialAttrs& attrs) {
        return attrs.get_prob ? std::vector<std::string>{"output", "log_prob"}
                              : std::vector<std::string>{"output"};
      })
      .RandomIf([](const auto&, bool) { return true; })
      .Gradient(MultinomialGradient)
      .Types(MultinomialTypes)
      .Decompose(MultinomialParts);
}

}  // namespace mxc
