// SPDX-License-Identifier: Apache-2.0
// broadcast_like: axes of lhs repeated to the extents of rhs, all axes or the
// pairs (lhs_axes[k], rhs_axes[k]). One of the two without the other counts for
// nothing, as in MXNet 1.9.1.
// C1  lhs_axes and rhs_axes have one length, above 0
// C2  axes are in range and distinct
// C3  without axes, both inputs have one rank
// C4  an axis that changes has extent 1
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct BroadcastLikeAttrs {
  std::optional<Extents> lhs_axes, rhs_axes;

  bool pairs() const { return lhs_axes && rhs_axes; }
  void Describe(Fields& f) {
    f("lhs_axes", lhs_axes).Doc("the axes of lhs to repeat; None: all");
    f("rhs_axes", rhs_axes).Doc("the axes of rhs to follow; None: all");
  }
};

std::optional<std::string> CheckBroadcastLike(const BroadcastLikeAttrs& attrs) {
  if (!attrs.pairs()) return std::nullopt;
  if (attrs.lhs_axes->size() != attrs.rhs_axes->size()) {
    return "C1: lhs_axes and rhs_axes differ in length";
  }
  if (attrs.lhs_axes->empty()) {
    return "C1: lhs_axes and rhs_axes have no axis, expected at least one";
  }
  return std::nullopt;
}

void BroadcastLikeTypes(const BroadcastLikeAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &lhs = t.In(0), &rhs = t.In(1);
  if (!lhs.known_rank() || !rhs.known_rank()) return;
  if (!t.Require(attrs.pairs() || lhs.rank() == rhs.rank(),
                 "C3: lhs has rank {} but rhs {}", lhs.rank(), rhs.rank())) {
    return;
  }
  const Extents own = attrs.pairs() ? *attrs.lhs_axes : AllAxes(lhs.rank());
  const Extents other = attrs.pairs() ? *attrs.rhs_axes : AllAxes(rhs.rank());
  if (!RequireAxes(t, "C2", own, lhs.rank()) ||
      !RequireAxes(t, "C2", other, rhs.rank())) {
    return;
  }
  Shape out = lhs;
  for (size_t i = 0; i < own.size(); ++i) {
    const int axis = *ResolveAxis(own[i], lhs.rank());
    const int64_t extent = rhs[*ResolveAxis(other[i], rhs.rank())];
    if (!t.Require(lhs[axis] == extent || lhs[axis] == 1 || !lhs.known(axis) ||
                       extent == Shape::kUnknownDim,
                   "C4: axis {} of lhs has extent {}, expected 1 or {}", axis,
                   lhs[axis], extent)) {
      return;
    }
    out[axis] = extent;
  }
  t.SetOut(0, out);
}

}  // namespace

MXC_OP(BroadcastLike) {
  return Op<BroadcastLikeAttrs>("broadcast_like")
      .Doc("axes of lhs repeated to the extents of rhs")
      .Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}})
      .Check(CheckBroadcastLike)
      .Types(BroadcastLikeTypes)
      .Meaning([](const BroadcastLikeAttrs&, Definition& def) {
        def.Set(0, def.InBroadcast(0, def.Indices()));
      })
      .Gradient([](const BroadcastLikeAttrs&,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.HeadSummedTo(0), {}};
      });
}

}  // namespace mxc
