// SPDX-License-Identifier: Apache-2.0
// _sample_multinomial: classes drawn with given probabilities.
//   data     f[P…, C]   probabilities, of sum 1
//   output   [P…, S…]   classes
//   log_prob f[P…, S…]  the logarithms of their probabilities, with get_prob
// C1  data has an axis of classes
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct MultinomialAttrs {
  Extents shape;
  bool get_prob = false;
  DType dtype = DType::kI32;

  void Describe(Fields& f) {
    f("shape", shape).Min(1).Doc("how many for each row");
    f("get_prob", get_prob).Doc("the logarithms of their probabilities too");
    f("dtype", dtype).Doc("element type of the classes");
  }
};

void MultinomialTypes(const MultinomialAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype);
  if (attrs.get_prob) t.SetOutDType(1, t.InDType(0));
  if (!t.In(0).known_rank()) return;
  if (!t.Require(t.In(0).rank() > 0, "C1: data has no axis")) return;
  Extents dims = t.In(0).dims();
  dims.pop_back();
  dims.insert(dims.end(), attrs.shape.begin(), attrs.shape.end());
  if (dims.empty()) dims = {1};
  for (int i = 0; i < t.outputs(); ++i) t.SetOut(i, Shape(dims));
}

// Of `rows` rows of `draws` draws each: how many sums of the first
// probabilities the number drawn is not below.
std::vector<Value> MultinomialParts(const MultinomialAttrs& attrs,
                                    const Node& node, GraphBuilder& b) {
  const Value data = node.inputs[0];
  const int64_t classes = data.shape()[data.shape().rank() - 1];
  const int64_t rows = data.shape().elements() / std::max<int64_t>(classes, 1);
  int64_t draws = 1;
  for (const int64_t n : attrs.shape) draws *= n;
  const Value table = b.Reshape(b.Cast(data, DType::kF32), {rows, classes});
  const Value sums = b.Op("_np_cumsum", {table}, {{"axis", "1"}});
  const Value drawn = b.Uniform(Shape{rows, draws, 1}, "multinomial");
  const Value below = b.Op("broadcast_lesser_equal",
                           {b.Reshape(sums, {rows, 1, classes}), drawn});
  // Rounding may leave the last sum below 1.
  const Value place = b.Op("_minimum_scalar", {b.Sum(below, {2})},
                           {{"scalar", std::to_string(classes - 1)}});
  const Shape& shape = node.types[0].shape;
  std::vector<Value> outputs = {b.Reshape(b.Cast(place, attrs.dtype), shape)};
  if (attrs.get_prob) {
    const Value chosen =
        b.Op("pick",
             {b.BroadcastTo(b.Reshape(table, {rows, 1, classes}),
                            {rows, draws, classes}),
              place},
             {{"axis", "-1"}});
    outputs.push_back(
        b.Reshape(b.Cast(b.Log(chosen), data.type().dtype), shape));
  }
  return outputs;
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
      .ZeroGradient()
      .Types(MultinomialTypes)
      .Decompose(MultinomialParts);
}

}  // namespace mxc
