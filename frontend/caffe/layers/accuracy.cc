// SPDX-License-Identifier: Apache-2.0
// How often the label's score is among the top_k largest; a score that is as
// large as the label's counts against it. Source: accuracy_layer.cpp of
// BVLC/caffe.
#include "frontend/caffe/layers.h"

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
  const std::string along = std::to_string(axis);
  Extents places = layer.ShapeOf(x).dims();
  places.erase(places.begin() + axis);
  if (places.empty()) places.push_back(1);
  const Value label = layer.Reshape(layer.Bottom(1), places);
  const Value score =
      layer.Op("pick", {x, label}, {{"axis", along}, {"keepdims", "True"}});
  const Value better =
      layer.Op("sum", {layer.Op("broadcast_greater_equal", {x, score})},
               {{"axis", along}});
  Value right = layer.Scalar("_lesser_equal_scalar", better, p.top_k);
  if (!p.ignore_label) {
    return layer.SetTop(0, layer.Op("mean", {right}));
  }
  const Value valid = layer.Scalar("_not_equal_scalar", label, *p.ignore_label);
  right = layer.Op("elemwise_mul", {right, valid});
  const Value count =
      layer.Scalar("_maximum_scalar", layer.SumFrom(valid, 0), 1);
  layer.SetTop(0, layer.Op("elemwise_div", {layer.SumFrom(right, 0), count}));
}

}  // namespace mxc::caffe
