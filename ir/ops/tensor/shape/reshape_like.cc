// SPDX-License-Identifier: Apache-2.0
// reshape_like: lhs under the shape of rhs, or with its axes lhs_begin …
// lhs_end - 1 replaced by the axes rhs_begin … rhs_end - 1 of rhs.
// C1  0 ≤ begin ≤ end ≤ rank, after negative numbers have the rank added
// C2  the output has as many elements as lhs
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

struct ReshapeLikeAttrs {
  std::optional<int64_t> lhs_begin, lhs_end, rhs_begin, rhs_end;

  void Describe(Fields& f) {
    f("lhs_begin", lhs_begin).Doc("first axis of lhs to replace; None: 0");
    f("lhs_end", lhs_end).Doc("axis of lhs to stop at; None: its rank");
    f("rhs_begin", rhs_begin).Doc("first axis of rhs to take; None: 0");
    f("rhs_end", rhs_end).Doc("axis of rhs to stop at; None: its rank");
  }
};

struct AxisSpan {
  int begin = 0, end = 0;
};

std::optional<AxisSpan> RequireSpan(TypeInference& t, std::string_view side,
                                    const std::optional<int64_t>& begin,
                                    const std::optional<int64_t>& end,
                                    int rank) {
  const auto resolve = [rank](int64_t at) { return at < 0 ? at + rank : at; };
  const int64_t first = resolve(begin.value_or(0));
  const int64_t last = end ? resolve(*end) : rank;
  if (!t.Require(0 <= first && first <= last && last <= rank,
                 "C1: axes {} to {} of {} are out of range for rank {}", first,
                 last, side, rank)) {
    return std::nullopt;
  }
  return AxisSpan{static_cast<int>(first), static_cast<int>(last)};
}

void ReshapeLikeTypes(const ReshapeLikeAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &lhs = t.In(0), &rhs = t.In(1);
  if (!lhs.known_rank() || !rhs.known_rank()) return;
  const auto from =
      RequireSpan(t, "lhs", attrs.lhs_begin, attrs.lhs_end, lhs.rank());
  const auto to =
      RequireSpan(t, "rhs", attrs.rhs_begin, attrs.rhs_end, rhs.rank());
  if (!from || !to) return;
  const auto at = [](const Shape& shape, int axis) {
    return shape.dims().begin() + axis;
  };
  Extents dims(at(lhs, 0), at(lhs, from->begin));
  dims.insert(dims.end(), at(rhs, to->begin), at(rhs, to->end));
  dims.insert(dims.end(), at(lhs, from->end), lhs.dims().end());
  const Shape out(dims);
  if (t.Require(SameElementCount(lhs, out),
                "C2: {} has other elements than lhs, {}", ToString(out),
                ToString(lhs))) {
    t.SetOut(0, out);
  }
}

}  // namespace

MXC_OP(ReshapeLike) {
  return Op<ReshapeLikeAttrs>("reshape_like")
      .Alias({"_npx_reshape_like"})
      .Doc("lhs under the shape of rhs")
      .Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}})
      .Types(ReshapeLikeTypes)
      .Meaning(
          [](const ReshapeLikeAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
