// SPDX-License-Identifier: Apache-2.0
// _select: x if the condition, one number, is not 0, else y; our own operator,
// what control flow becomes.
//   condition  t[one element]
//   x, y       t[d1 …]
// C1  condition has one element
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
namespace {

void SelectTypes(const NoAttrs&, TypeInference& t) {
  ChoiceTypes(t);
  t.Require(!t.In(0).known() || t.In(0).elements() == 1,
            "C1: condition has shape {}, expected one element",
            ToString(t.In(0)));
}

void SelectMeaning(const NoAttrs&, Definition& def) {
  const std::vector<Expr> first(def.InShape(0).rank(), Expr(0));
  const std::vector<Expr> index = def.Indices();
  def.Set(0,
          Select(IsTrue(def.In(0, first)), def.In(1, index), def.In(2, index)));
}

std::vector<Value> SelectGradient(const NoAttrs&, GradientBuilder& g) {
  const Value zeros = g.Zeros(g.Out().type());
  return {{},
          g.Needs(1) ? g.Op<op::Select>({g.In(0), g.Head(), zeros}) : Value(),
          g.Needs(2) ? g.Op<op::Select>({g.In(0), zeros, g.Head()}) : Value()};
}

}  // namespace

MXC_OP(Select) {
  return Op<>("_select")
      .Internal()
      .Doc("one of two tensors, by a number")
      .Inputs({{"condition", InputKind::kData},
               {"x", InputKind::kData},
               {"y", InputKind::kData}})
      .Types(SelectTypes)
      .Meaning(SelectMeaning)
      .Gradient(SelectGradient);
}

}  // namespace mxc
