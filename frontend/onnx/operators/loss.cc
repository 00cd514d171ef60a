// SPDX-License-Identifier: Apache-2.0
// Losses of classes.
#include "frontend/onnx/call.h"
#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/tensor/indexing/pick.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {
namespace {

// −weight[label] · logp[label] of every place, 0 where the label is to be
// ignored; their sum, their mean by weight, or themselves. `logp` is
// [N, C, …], labels are [N, …].
Value ClassLoss(Call& c, Value logp, int labels_input, int weight_input) {
  enum { kNone, kSum, kMean };
  const int reduction = c.OneOf("reduction", {"none", "sum", "mean"}, kMean);
  const bool ignores = c.HasAttribute("ignore_index");
  const int64_t ignored = c.Int("ignore_index", 0);
  const Shape& s = logp.shape();
  c.Require(s.rank() >= 2, "its scores have the shape {}, expected classes",
            ToString(s));
  Extents places = s.dims();
  places.erase(places.begin() + 1);
  Value labels = c.In(labels_input);
  c.Require(labels.shape() == Shape(places) && !IsFloat(labels.type().dtype),
            "its labels are {}, expected integers of shape {}",
            ToString(labels.type()), TupleText(places));
  Value skip;
  if (ignores) {
    skip = c.Op<op::NpiEqual>(
        {labels, c.ScalarLike(static_cast<double>(ignored), labels)});
    labels = c.Op<op::NpiWhere>({skip, c.ScalarLike(0, labels), labels});
  }
  Value loss = c.Neg(c.Op<op::Pick>({logp, labels}, {.axis = 1}));
  Value weight;
  if (c.Has(weight_input)) {
    const Value classes = c.Cast(c.In(weight_input), logp.type().dtype);
    c.Require(classes.shape() == Shape{s[1]},
              "its weights have the shape {}, expected one for each of {} "
              "classes",
              ToString(classes.shape()), s[1]);
    weight = c.Op<op::Take>({classes, labels},
                            {.axis = 0, .mode = IndexMode::kClip});
    loss = c.Mul(loss, weight);
  }
  if (skip) {
    const Value zero = c.ScalarLike(0, loss);
    loss = c.Op<op::NpiWhere>({skip, zero, loss});
    if (!weight) weight = c.Ones(loss.type());
    weight = c.Op<op::NpiWhere>({skip, zero, weight});
  }
  if (reduction == kNone) return loss;
  if (reduction == kMean && !weight) return c.Op<op::NpiMean>({loss});
  const Value sum = c.Op<op::NpSum>({loss});
  if (reduction == kSum) return sum;
  return c.Div(sum, c.Op<op::NpSum>({weight}));
}

}  // namespace

void ImportNegativeLogLikelihoodLoss(Call& c) {
  const DType dtype = c.DTypeOf(0);
  const Value logp = c.Cast(c.In(0), AccumulateType(dtype));
  c.Give(0, c.Cast(ClassLoss(c, logp, 1, 2), dtype));
}

void ImportSoftmaxCrossEntropyLoss(Call& c) {
  const DType dtype = c.DTypeOf(0);
  c.Require(c.RankOf(0) >= 2, "its scores have {} axes, expected classes",
            c.RankOf(0));
  const Value logp = c.Op<op::LogSoftmax>(
      {c.Cast(c.In(0), AccumulateType(dtype))}, {.axis = 1});
  c.Give(0, c.Cast(ClassLoss(c, logp, 1, 2), dtype));
  c.Give(1, c.Cast(logp, dtype));
}

}  // namespace mxc::onnx
