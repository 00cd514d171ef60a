// SPDX-License-Identifier: Apache-2.0
// broadcast_axis: the given axes, of extent 1, repeated to the given sizes.
// C1  axis and size have one length
// C2  axes are in range and distinct
// C3  the axes have extent 1
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct BroadcastAxisAttrs {
  Extents axis, size;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to repeat");
    f("size", size).Min(1).Doc("their extents in the output");
  }
};

std::optional<std::string> CheckBroadcastAxis(const BroadcastAxisAttrs& attrs) {
  if (attrs.axis.size() == attrs.size.size()) return std::nullopt;
  return fmt::format("C1: axis {} and size {} differ in length",
                     ToString(attrs.axis), ToString(attrs.size));
}

void BroadcastAxisTypes(const BroadcastAxisAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int rank = t.In(0).rank();
  if (!RequireAxes(t, "C2", attrs.axis, rank)) return;
  Shape out = t.In(0);
  for (size_t i = 0; i < attrs.axis.size(); ++i) {
    const int axis = *ResolveAxis(attrs.axis[i], rank);
    if (!t.Require(!out.known(axis) || out[axis] == 1,
                   "C3: axis {} has extent {}, expected 1", axis, out[axis])) {
      return;
    }
    out[axis] = attrs.size[i];
  }
  t.SetOut(0, out);
}

}  // namespace

MXC_OP(BroadcastAxis) {
  return Op<BroadcastAxisAttrs>("broadcast_axis")
      .Alias({"broadcast_axes"})
      .Doc("axes of extent 1 repeated to given sizes")
      .Check(CheckBroadcastAxis)
      .Types(BroadcastAxisTypes)
      .Meaning([](const BroadcastAxisAttrs&, Definition& def) {
        def.Set(0, def.InBroadcast(0, def.Indices()));
      })
      .Gradient([](const BroadcastAxisAttrs&,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.HeadSummedTo(0)};
      });
}

}  // namespace mxc
