// SPDX-License-Identifier: Apache-2.0
// make_loss: the identity, whose gradient is 1 whatever comes from above.
//   data  f[d1 …]
//   loss  f[d1 …]
// Source: MXNet 1.9.1 operator/tensor/elemwise_unary_op_basic.cc.
#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void MakeLossTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

void MakeLossMeaning(const NoAttrs&, Definition& def) {
  def.Set(0, def.In(0, def.Indices()));
}

}  // namespace

MXC_OP(MakeLoss) {
  return Op<>("make_loss")
      .Doc("the identity, with a gradient of 1")
      .Outputs({"loss"})
      .Types(MakeLossTypes)
      .Meaning(MakeLossMeaning)
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Ones(g.In(0).type())};
      })
      .Loss([](const NoAttrs&, const Node& node, GraphBuilder& b) {
        return MeanLoss(b, node.inputs[0]);
      })
      .LossHead();
}

}  // namespace mxc
