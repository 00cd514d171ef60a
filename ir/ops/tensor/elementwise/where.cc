// SPDX-License-Identifier: Apache-2.0
// where: x where condition is not 0, else y.
//   condition  c[shape of x], or c[d0] for whole rows
//   x, y       t[d0, …]
// C1  x and y have one shape
// C2  condition has that shape, or is one number for each row
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
namespace {

bool Conflicts(const Shape& a, const Shape& b) {
  if (!a.known() || !b.known()) return false;
  return a != b;
}

void WhereTypes(const NoAttrs&, TypeInference& t) {
  if (!t.Require(!Conflicts(t.In(1), t.In(2)), "C1: x is {} but y {}",
                 ToString(t.In(1)), ToString(t.In(2)))) {
    return;
  }
  ChoiceTypes(t);
  const Shape &condition = t.In(0), &x = t.In(1);
  if (!condition.known() || !x.known()) return;
  const bool rows =
      condition.rank() == 1 && x.rank() > 0 && condition[0] == x[0];
  t.Require(condition == x || rows,
            "C2: condition has shape {}, expected {} or one entry for each row",
            ToString(condition), ToString(x));
}

void WhereMeaning(const NoAttrs&, Definition& def) {
  const std::vector<Expr> index = def.Indices();
  const bool rows = def.InShape(0).rank() < def.InShape(1).rank();
  const Expr condition = rows ? def.In(0, {index[0]}) : def.In(0, index);
  def.Set(0, Select(IsTrue(condition), def.In(1, index), def.In(2, index)));
}

}  // namespace

MXC_OP(Where) {
  return Op<>("where")
      .Doc("x where condition is not 0, else y")
      .Inputs({{"condition", InputKind::kData},
               {"x", InputKind::kData},
               {"y", InputKind::kData}})
      .Types(WhereTypes)
      .Meaning(WhereMeaning)
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        std::vector<Value> gradients = g.Elementwise();
        gradients[0] = {};
        return gradients;
      });
}

}  // namespace mxc
