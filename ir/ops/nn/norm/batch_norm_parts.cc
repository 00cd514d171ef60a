// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/norm/batch_norm.h"

namespace mxc {

std::vector<Value> BatchNormParts(const BatchNormForm& form, const Node& node,
                                  GraphBuilder& b) {
  const Shape& data = node.types[0].shape;
  if (UsesMovingStatistics(form, b.training()) || data.rank() < 2) return {};
  const int axis = ChannelAxis(form, data.rank());
  Extents others, along(data.rank(), 1);
  along[axis] = data[axis];
  for (int k = 0; k < data.rank(); ++k) {
    if (k != axis) others.push_back(k);
  }
  const auto cells = static_cast<double>(data.elements() / data[axis]);
  const auto mean_of = [&](Value x) {
    return b.Div(b.Sum(x, others, true), cells);
  };
  const auto per_channel = [&](Value x) { return b.Reshape(x, {data[axis]}); };
  const auto next = [&](int state, Value statistic) {
    return b.Add(b.Mul(node.inputs[state], form.momentum),
                 b.Mul(statistic, 1 - form.momentum));
  };

  const Value x = b.Cast(node.inputs[0], node.types[1].dtype);
  const Value mean = mean_of(x), centred = b.Sub(x, mean);
  const Value variance = mean_of(b.Square(centred));
  const Value inverse = b.Div(1, b.Sqrt(b.Add(variance, form.eps)));
  Value scale = inverse;
  if (!form.fix_gamma) {
    scale = b.Mul(inverse, b.Reshape(node.inputs[1], along));
  }
  Value y = b.Add(b.Mul(centred, scale), b.Reshape(node.inputs[2], along));
  if (form.relu) y = b.Op<op::Relu>({y});
  return {b.Cast(y, node.types[0].dtype), per_channel(mean),
          per_channel(form.variance_as_is ? variance : inverse),
          next(3, per_channel(mean)), next(4, per_channel(variance))};
}

}  // namespace mxc
