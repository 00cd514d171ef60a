// SPDX-License-Identifier: Apache-2.0
// _split_v2: data cut along an axis, into `sections` equal parts, or at
// `indices`, the first of which is 0: where each part begins.
// C1  axis is in range
// C2  sections divide the extent
// C3  indices ascend within the extent
// C4  squeeze_axis needs parts of extent 1
// C5  sections or indices are given, not too many
#include "ir/ops/tensor/shape/split_v2.h"

#include "ir/ops/tensor/shape/joining.h"

namespace mxc {
namespace {

std::optional<std::string> CheckSplitV2(const SplitV2Attrs& attrs) {
  if (attrs.parts() > 0 && attrs.parts() <= kMaxOperands) return std::nullopt;
  return fmt::format("C5: {} parts, expected 1 to {}", attrs.parts(),
                     kMaxOperands);
}

void SplitV2Types(const SplitV2Attrs& attrs, SplitAxis axis_of,
                  TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(
      t, "C1", "axis", axis_of(attrs.axis, t.In(0).rank()), t.In(0).rank());
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

int AxisOfSplit(const SplitV2Attrs& attrs, SplitAxis axis_of, int rank) {
  return *ResolveAxis(axis_of(attrs.axis, rank), rank);
}

void SplitV2Meaning(const SplitV2Attrs& attrs, int axis, Definition& def) {
  for (int i = 0; i < static_cast<int>(attrs.parts()); ++i) {
    std::vector<Expr> index = def.Indices(i);
    if (attrs.squeeze_axis) index.insert(index.begin() + axis, 0);
    index[axis] = index[axis] + attrs.Begin(i, def.InShape(0)[axis]);
    def.Set(i, def.In(0, index));
  }
}

}  // namespace

Op<SplitV2Attrs> SplitOperator(std::string name, std::string doc,
                               SplitAxis axis_of) {
  return Op<SplitV2Attrs>(std::move(name))
      .Doc(std::move(doc))
      .OutputsOf(
          [](const SplitV2Attrs& a) { return NumberedOutputs(a.parts()); })
      .Check(CheckSplitV2)
      .Types([axis_of](const SplitV2Attrs& attrs, TypeInference& t) {
        SplitV2Types(attrs, axis_of, t);
      })
      .Meaning([axis_of](const SplitV2Attrs& attrs, Definition& def) {
        SplitV2Meaning(attrs,
                       AxisOfSplit(attrs, axis_of, def.InShape(0).rank()), def);
      })
      .Gradient([axis_of](const SplitV2Attrs& attrs, GradientBuilder& g) {
        const Shape& in = g.In(0).shape();
        const int axis = AxisOfSplit(attrs, axis_of, in.rank());
        return CutGradient(g, axis, attrs.squeeze_axis,
                           attrs.Begin(0, in[axis]));
      });
}

std::optional<std::string> CheckSplitAlong(int64_t axis,
                                           const SplitV2Attrs& attrs) {
  if (attrs.axis == axis) return CheckSplitV2(attrs);
  return fmt::format("C6: axis {}, expected {}", attrs.axis, axis);
}

MXC_OP(SplitV2) {
  return SplitOperator("_split_v2", "cuts an axis into parts",
                       [](int64_t stated, int) { return stated; })
      .Alias({"_npi_split"});
}

}  // namespace mxc
