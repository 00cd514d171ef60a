// SPDX-License-Identifier: Apache-2.0
// How often the label's score is among the top_k largest; a score that is as
// large as the label's counts against it. Source: accuracy_layer.cpp of
// BVLC/caffe.
#include "frontend/caffe/layers.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/pick.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc::caffe {

void ImportAccuracy(Layer& layer) {
  layer.Expect(2, 2, 2);
  if (layer.training()) {
    layer.Note("is left out: a training measures its metrics itself");
    return;
  }
  const AccuracyParameter& p = OrDefault(layer.param().accuracy_param);
  if (layer.tops() > 1) {
    layer.Fail("a second top, of each class by itself, which is not supported");
  }
  const Value x = layer.Bottom(0);
  const int axis = layer.Axis(p.axis, layer.RankOf(x));
  Extents places = layer.ShapeOf(x).dims();
  places.erase(places.begin() + axis);
  if (places.empty()) places.push_back(1);
  const Value label = layer.Reshape(layer.Bottom(1), places);
  const Value score =
      layer.Op<op::Pick>({x, label}, {.axis = axis, .keepdims = true});
  const Value better =
      layer.Op<op::Sum>({layer.Op<op::BroadcastGreaterEqual>({x, score})},
                        {.axis = Extents{axis}});
  Value right = layer.Scalar<op::LesserEqualScalar>(better, p.top_k);
  if (!p.ignore_label) {
    return layer.SetTop(0, layer.Op<op::Mean>({right}));
  }
  const Value valid = layer.Scalar<op::NotEqualScalar>(label, *p.ignore_label);
  right = layer.Op<op::ElemwiseMul>({right, valid});
  const Value count =
      layer.Scalar<op::MaximumScalar>(layer.SumFrom(valid, 0), 1);
  layer.SetTop(0, layer.Op<op::ElemwiseDiv>({layer.SumFrom(right, 0), count}));
}

}  // namespace mxc::caffe
