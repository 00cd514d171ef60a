// SPDX-License-Identifier: Apache-2.0
// The activation functions, for every operator that applies one.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

Expr Relu(Expr x);
Expr Sigmoid(Expr x);
Expr SoftRelu(Expr x);
Expr SoftSign(Expr x);

enum class ActType : int { kRelu, kSigmoid, kTanh, kSoftRelu, kSoftSign };

struct ActivationAttrs {
  ActType act_type = ActType::kRelu;

  void Describe(Fields& f) {
    f("act_type", act_type)
        .OneOf({"relu", "sigmoid", "tanh", "softrelu", "softsign"})
        .Required()
        .Doc("the function");
  }
};
MXC_ATTRS(Activation, ActivationAttrs);
MXC_ATTRS(ActivationGradient, ActivationAttrs);

}  // namespace mxc
