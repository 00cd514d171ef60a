// SPDX-License-Identifier: Apache-2.0
// _split_v2: data cut along an axis, into `sections` equal parts, or at
// `indices`, the first of which is 0: where each part begins.
// C1  axis is in range
// C2  sections divide the extent
// C3  indices ascend within the extent
// C4  squeeze_axis needs parts of extent 1
// C5  sections or indices are given, not too many
#include "ir/ops/tensor/axes.h"
#include "ir/ops/tensor/joining.h"

namespace mxc {
namespace {

struct SplitV2Attrs {
  Extents indices;
  int64_t axis = 1;
  bool squeeze_axis = false;
  int64_t sections = 0;

  void Describe(Fields& f) {
    f("indices", indices).Required().Min(0).Doc("where each part begins");
    f("axis", axis).Doc("the axis that is cut");
    f("squeeze_axis", squeeze_axis).Doc("drop the axis, of extent 1 then");
    f("sections", sections)
        .Range(0, kMaxOperands)
        .Doc("the number of equal parts; 0: cut at indices");
  }

  int64_t parts() const {
    return sections > 0 ? sections : static_cast<int64_t>(indices.size());
  }
  // Where part i of an axis begins; the extent for i = parts().
  int64_t Begin(int64_t i, int64_t extent) const {
    if (sections > 0) return i * (extent / sections);
    return i < parts() ? indices[i] : extent;
  }
};

std::optional<std::string> CheckSplitV2(const SplitV2Attrs& attrs) {
  if (attrs.parts() > 0 && attrs.parts() <= kMaxOperands) return std::nullopt;
  return fmt::format("C5: {} parts, expected 1 to {}", attrs.parts(),
                     kMaxOperands);
}

void SplitV2Types(const SplitV2Attrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
  if (!axis || !t.In(0).known(*axis)) return;
  const int64_t whole = t.In(0)[*axis];
  if (!t.Require(attrs.sections == 0 || whole % attrs.sections == 0,
                 "C2: {} sections do not divide the extent {} of axis {}",
                 attrs.sections, whole, *axis)) {
    return;
  }
  for (int i = 0; i < t.outputs(); ++i) {
    const int64_t begin = attrs.Begin(i, whole),
                  end = attrs.Begin(i + 1, whole);
    if (!t.Require(begin < end && end <= whole,
                   "C3: part {} runs from {} to {} of an extent of {}", i,
                   begin, end, whole) ||
        !t.Require(!attrs.squeeze_axis || end - begin == 1,
                   "C4: squeeze_axis needs parts of extent 1, part {} has {}",
                   i, end - begin)) {
      return;
    }
    Extents dims = t.In(0).dims();
    dims[*axis] = end - begin;
    if (attrs.squeeze_axis) dims.erase(dims.begin() + *axis);
    t.SetOut(i, Shape(dims));
  }
}

void SplitV2Meaning(const SplitV2Attrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.InShape(0).rank());
  for (int i = 0; i < static_cast<int>(attrs.parts()); ++i) {
    std::vector<Expr> index = def.Indices(i);
    if (attrs.squeeze_axis) index.insert(index.begin() + axis, 0);
    index[axis] = index[axis] + attrs.Begin(i, def.InShape(0)[axis]);
    def.Set(i, def.In(0, index));
  }
}

}  // namespace

MXC_OP(SplitV2) {
  return Op<SplitV2Attrs>("_split_v2")
      .Alias({"_npi_split"})
      .Doc("cuts an axis into parts")
      .OutputsOf(
          [](const SplitV2Attrs& a) { return NumberedOutputs(a.parts()); })
      .Check(CheckSplitV2)
      .Types(SplitV2Types)
      .Meaning(SplitV2Meaning)
      .Gradient([](const SplitV2Attrs& attrs, GradientBuilder& g) {
        const Shape& in = g.In(0).shape();
        const int axis = *ResolveAxis(attrs.axis, in.rank());
        return CutGradient(g, axis, attrs.squeeze_axis,
                           attrs.Begin(0, in[axis]));
      });
}

}  // namespace mxc
