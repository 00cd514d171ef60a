// SPDX-License-Identifier: Apache-2.0
// BlockGrad: the identity, through which no gradient passes.
//   data    f[d1 …]
//   output  f[d1 …]
// Source: MXNet 1.9.1 operator/tensor/elemwise_unary_op_basic.cc.
#include "ir/ops/op.h"

namespace mxc {
namespace {

void BlockGradTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

void BlockGradMeaning(const NoAttrs&, Definition& def) {
  def.Set(0, def.In(0, def.Indices()));
}

}  // namespace

MXC_OP(BlockGrad) {
  return Op<>("BlockGrad")
      .Doc("the identity, with a gradient of 0")
      .Alias({"stop_gradient"})
      .Types(BlockGradTypes)
      .Meaning(BlockGradMeaning)
      .ZeroGradient();
}

}  // namespace mxc
