// SPDX-License-Identifier: Apache-2.0
// _cut: the first `count` entries of an axis, and a number behind them.
//   data    t[d1 …]
//   count   i32[1]
//   output  t[d1 …]   select(entry < count, data[i], neutral)
//   entry   i[axis], of the sequence that it is of i[axis] / inner % length
// C1  data has the axis
#include "ir/ops/tensor/indexing/cut.h"

#include "ir/ops/op.h"

namespace mxc {
namespace {

void CutTypes(const CutAttrs& a, TypeInference& t) {
  t.SetInDType(1, DType::kI32);
  t.SetIn(1, {1});
  t.SetOut(0, t.In(0));
  t.SetOutDType(0, t.InDType(0));
  t.SetIn(0, t.Out(0));
  t.SetInDType(0, t.OutDType(0));
  t.Require(!t.In(0).known_rank() || a.axis < t.In(0).rank(),
            "C1: axis {} is not one of data's", a.axis);
}

void CutMeaning(const CutAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr count = Cast(def.In(1, {0}), DType::kI64);
  Expr entry = i[static_cast<size_t>(a.axis)];
  if (a.inner > 1) entry = entry / Expr(a.inner);
  if (a.length > 0) entry = entry % Expr(a.length);
  def.Set(0, Select(entry < count, def.In(0, i), def.Lit(a.neutral)));
}

std::vector<Value> GradientOfCut(const CutAttrs& a, GradientBuilder& g) {
  CutAttrs cut = a;
  cut.neutral = 0;
  return {g.Op<op::Cut>({g.Head(), g.In(1)}, cut), {}};
}

}  // namespace

MXC_OP(Cut) {
  return Op<CutAttrs>("_cut")
      .Doc("the first entries of an axis, and a number behind them")
      .Inputs({{"data", InputKind::kData}, {"count", InputKind::kData}})
      .Types(CutTypes)
      .Meaning(CutMeaning)
      .Internal()
      .Gradient(GradientOfCut);
}

}  // namespace mxc
