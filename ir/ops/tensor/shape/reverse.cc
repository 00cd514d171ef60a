// SPDX-License-Identifier: Apache-2.0
// reverse: the elements in the opposite order along the given axes.
// C1  axes are in range, counted from the front, and distinct
#include "ir/ops/tensor/shape/reverse.h"
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void ReverseTypes(const ReverseAttrs& attrs, TypeInference& t) {
  SameTypes(t);
  if (t.In(0).known_rank()) {
    RequireAxes(t, "C1", attrs.axis, t.In(0).rank());
  }
}

void ReverseMeaning(const ReverseAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  for (const int64_t axis : attrs.axis) {
    const int64_t last = def.InShape(0)[static_cast<int>(axis)] - 1;
    index[axis] = Expr(last) - index[axis];
  }
  def.Set(0, def.In(0, index));
}

}  // namespace

MXC_OP(Reverse) {
  return Op<ReverseAttrs>("reverse")
      .Alias({"flip"})
      .Doc("the opposite order along axes")
      .Types(ReverseTypes)
      .Meaning(ReverseMeaning)
      .Gradient([](const ReverseAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::Reverse>({g.Head()}, {.axis = attrs.axis})};
      });
}

}  // namespace mxc
