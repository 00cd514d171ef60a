// SPDX-License-Identifier: Apache-2.0
// _running_sum: sums of the elements up to each position along a short axis; the part
// of which _np_cumsum makes longer ones. Each sum is added up by itself.
#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void RunningSumTypes(const RunningSumAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.AllSameShape();
  if (!t.In(0).known_rank()) return;
  t.Require(attrs.axis < t.In(0).rank(),
            "axis {} is out of range for a shape of rank {}", attrs.axis,
            t.In(0).rank());
}

void RunningSumMeaning(const RunningSumAttrs& attrs, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const auto axis = static_cast<size_t>(attrs.axis);
  const Expr sum = Definition::Sum({i[axis] + 1}, [&](const auto& r) {
    std::vector<Expr> index = i;
    index[axis] = r[0];
    return def.In(0, index);
  });
  def.Set(0, sum);
}

}  // namespace

MXC_OP(RunningSum) {
  return Op<RunningSumAttrs>("_running_sum")
      .Internal()
      .Doc("sums up to each position of a short axis")
      .Inputs({{"data", InputKind::kData}})
      .Types(RunningSumTypes)
      .Meaning(RunningSumMeaning);
}

}  // namespace mxc
