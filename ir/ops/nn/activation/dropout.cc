// SPDX-License-Identifier: Apache-2.0
// Dropout: zeros at random when it trains (with mode always: always), else the
// identity.
//   data    f[d1 …]
//   output  f[d1 …]    data · mask
//   mask    data's shape, 1 along `axes`: 0 for a share p of its elements,
//           1 / (1 − p) for the others; 1 where nothing is dropped; hidden
// The gradient of data is the output's, times mask.
// C1  axes are data's
// Source: MXNet 1.9.1 operator/nn/dropout.cc.
#include "ir/ops/nn/activation/dropout.h"

#include <fmt/format.h>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

Value DropoutMask(double p, const TensorType& type, std::string_view role,
                  GraphBuilder& b) {
  if (p >= 1) return b.Zeros(type);
  const Value kept = b.Op<op::LesserScalar>({b.Uniform(type.shape, role)},
                                            {.scalar = 1 - p}, "kept");
  return b.Cast(b.Mul(kept, 1 / (1 - p)), type.dtype);
}

namespace {

bool DropoutDraws(const DropoutAttrs& a, bool training) {
  return a.p > 0 && (training || a.mode == DropoutMode::kAlways);
}

void DropoutTypes(const DropoutAttrs& a, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  if (!t.In(0).known_rank()) return;
  Shape mask = t.In(0);
  for (const int64_t axis : a.axes) {
    if (!t.Require(axis >= 0 && axis < mask.rank(),
                   "C1: axis {} is not one of the {} of data", axis,
                   mask.rank())) {
      return;
    }
    mask[static_cast<int>(axis)] = 1;
  }
  t.SetOut(1, mask);
}

void DropoutMeaning(const DropoutAttrs&, Definition& def) {
  def.Set(0, def.In(0, def.Indices()));
  def.Set(1, def.Lit(1));
}

std::vector<Value> DropoutParts(const DropoutAttrs& a, const Node& node,
                                GraphBuilder& b) {
  if (!DropoutDraws(a, b.training())) return {};
  const Value mask = DropoutMask(a.p, node.types[1], "mask", b);
  return {b.Mul(node.inputs[0], mask), mask};
}

std::vector<Value> DropoutGradient(const DropoutAttrs&, GradientBuilder& g) {
  return {g.Mul(g.Head(), g.Out(1))};
}

}  // namespace

MXC_OP(Dropout) {
  return Op<DropoutAttrs>("Dropout")
      .Doc("zeros at random in training, the identity at inference")
      .Alias({"_npx_dropout"})
      .Outputs({"output", "mask"}, 1)
      .Types(DropoutTypes)
      .Meaning(DropoutMeaning)
      .Decompose(DropoutParts)
      .RandomIf(DropoutDraws)
      .Gradient(DropoutGradient);
}

}  // namespace mxc
