// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/indexing/slicing.h"

#include <algorithm>

namespace mxc {

SliceRange SelectFrom(const SliceAttrs& attrs, size_t axis, int64_t extent) {
  const auto at = [&](const std::vector<std::optional<int64_t>>& list,
                      int64_t none) {
    if (axis >= list.size() || !list[axis]) return none;
    return *list[axis] < 0 ? *list[axis] + extent : *list[axis];
  };
  SliceRange range;
  if (axis < attrs.step.size()) range.step = attrs.step[axis].value_or(1);
  const bool up = range.step > 0;
  range.begin = at(attrs.begin, up ? 0 : extent - 1);
  range.begin = up ? std::max<int64_t>(range.begin, 0)
                   : std::min(range.begin, extent - 1);
  const int64_t end =
      std::clamp<int64_t>(at(attrs.end, up ? extent : -1), -1, extent);
  const int64_t span = up ? end - range.begin : range.begin - end;
  const uint64_t stride = up ? static_cast<uint64_t>(range.step)
                             : -static_cast<uint64_t>(range.step);
  const bool inside = 0 <= range.begin && range.begin < extent;
  if (inside && span > 0) {
    range.count = static_cast<int64_t>((span - 1) / stride) + 1;
  }
  return range;
}

std::vector<SliceRange> SelectFrom(const SliceAttrs& attrs, const Shape& data) {
  std::vector<SliceRange> ranges;
  for (int axis = 0; axis < data.rank(); ++axis) {
    const bool sliced = axis < static_cast<int>(attrs.begin.size());
    ranges.push_back(sliced ? SelectFrom(attrs, axis, data[axis])
                            : SliceRange{0, 1, data[axis]});
  }
  return ranges;
}

std::optional<std::string> CheckSlice(const SliceAttrs& attrs) {
  if (attrs.begin.size() != attrs.end.size() ||
      (!attrs.step.empty() && attrs.step.size() != attrs.begin.size())) {
    return fmt::format(
        "C1: begin, end and step have {}, {} and {} entries, expected the same",
        attrs.begin.size(), attrs.end.size(), attrs.step.size());
  }
  if (std::ranges::find(attrs.step, 0) != attrs.step.end()) {
    return "C2: a step is 0";
  }
  return std::nullopt;
}

std::optional<Shape> SliceShape(const SliceAttrs& attrs, const Shape& data,
                                TypeInference& t) {
  if (!t.Require(static_cast<int>(attrs.begin.size()) <= data.rank(),
                 "C1: {} axes are sliced, data has rank {}", attrs.begin.size(),
                 data.rank())) {
    return std::nullopt;
  }
  Shape out = data;
  for (int axis = 0; axis < static_cast<int>(attrs.begin.size()); ++axis) {
    if (!out.known(axis)) continue;
    const int64_t count = SelectFrom(attrs, axis, out[axis]).count;
    if (!t.Require(count > 0,
                   "C3: the slice of axis {} with extent {} has no element",
                   axis, out[axis])) {
      return std::nullopt;
    }
    out[axis] = count;
  }
  return out;
}

std::vector<SlicePlace> PlacesIn(const SliceAttrs& attrs,
                                 const Definition& def) {
  const std::vector<Expr> i = def.Indices();
  std::vector<SlicePlace> places;
  for (const SliceRange& range : SelectFrom(attrs, def.OutShape())) {
    const bool up = range.step > 0;
    const Expr& at = i[places.size()];
    const Expr offset = up ? at - range.begin : Expr(range.begin) - at;
    const int64_t step = up ? range.step : -range.step;
    const Expr index = offset / step;
    places.push_back(
        {offset >= 0 && offset % step == 0 && index < range.count, index});
  }
  return places;
}

Expr AllInside(const std::vector<SlicePlace>& places) {
  Expr inside = Constant(1, DType::kBool);
  for (const SlicePlace& place : places) inside = inside && place.inside;
  return inside;
}

}  // namespace mxc
