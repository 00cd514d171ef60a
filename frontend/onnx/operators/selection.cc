// SPDX-License-Identifier: Apache-2.0
// What keeps some elements: how many depends on values. Where these are not
// known when the network is imported, there is room for all of them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/onnx/call.h"
#include "ir/ops/nn/detection/box_nms.h"
#include "ir/ops/numpy/indexing/npi_unique.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {
namespace {

Shape LengthOf(const Extents& values) {
  return Shape{static_cast<int64_t>(values.size())};
}

// Axis `axis` first; the same brings it back where it was.
Extents Swapped(int axis, int rank) {
  Extents order = AxesFrom(0, rank);
  std::swap(order[0], order[static_cast<size_t>(axis)]);
  return order;
}

// Beyond the condition nothing is kept.
Value CompressByData(Call& c, Value data, int axis) {
  const int64_t given = c.ShapeOf(1)[0], extent = data.shape()[axis];
  c.Require(given <= extent, "its condition has {} elements, expected {}",
            given, extent);
  Value condition = c.In(1);
  if (given < extent) {
    const TensorType rest = {condition.type().dtype, Shape{extent - given}};
    condition = c.Concat({condition, c.Zeros(rest)}, 0);
  }
  const Extents order = Swapped(axis, data.shape().rank());
  const Value rows =
      c.Op<op::BooleanMask>({c.Transpose(data, order), condition});
  return c.Transpose(rows, order);
}

}  // namespace

void ImportCompress(Call& c) {
  c.Require(c.RankOf(1) == 1, "its condition has shape {}",
            ToString(c.ShapeOf(1)));
  Extents dims = c.ShapeOf(0).dims();
  int axis = 0;
  const bool flat = !c.HasAttribute("axis");
  if (flat) {
    dims = {c.ShapeOf(0).elements()};
  } else {
    axis = c.Axis(c.Int("axis"), c.RankOf(0));
  }
  if (!c.Known(1) && !Call::IsEmpty(dims) && !Call::IsEmpty(c.ShapeOf(1))) {
    return c.Give(0, CompressByData(c, c.Reshape(c.In(0), dims), axis));
  }
  const Tensor condition = c.Need(1, "condition");
  Extents kept;
  for (int64_t i = 0; i < condition.shape().elements(); ++i) {
    if (condition.At(i) == 0) continue;
    c.Require(i < dims[axis], "its condition keeps element {} of {}", i,
              dims[axis]);
    kept.push_back(i);
  }
  Extents result = dims;
  result[axis] = static_cast<int64_t>(kept.size());
  if (Call::IsEmpty(result)) return c.GiveEmpty(c.DTypeOf(0), result);
  c.Give(0, c.Op<op::Take>(
                {c.Reshape(c.In(0), dims), c.ConstantInts(kept, "kept")},
                {.axis = axis, .mode = IndexMode::kClip}));
}

// [rank, count]; of a scalar [1, count].
void ImportNonZero(Call& c) {
  if (!c.Known(0) && !Call::IsEmpty(c.ShapeOf(0))) {
    const Value data = c.RankOf(0) > 0 ? c.In(0) : c.Reshape(c.In(0), {1});
    return c.Give(0, c.Transpose(c.Op<op::NpxNonzero>({data}), {1, 0}));
  }
  const Tensor x = c.Need(0, "data");
  Shape shape = x.shape();
  if (shape.rank() == 0) shape = Shape{1};
  Extents found;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    if (x.ExactAt(i) != 0) found.push_back(i);
  }
  const auto count = static_cast<int64_t>(found.size());
  Extents places(count * shape.rank());
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = found[k];
    for (int d = shape.rank() - 1; d >= 0; --d) {
      places[d * count + k] = rest % shape[d];
      rest /= shape[d];
    }
  }
  c.Give(0, IntTensor(places, Shape{shape.rank(), count}));
}

namespace {

// The parts of a tensor along an axis; of a flat one, its elements.
class UniqueParts {
 public:
  UniqueParts(const Tensor& x, const Shape& shape, int axis)
      : x_(x), count_(shape[axis]) {
    for (int d = 0; d < axis; ++d) before_ *= shape[d];
    for (int d = axis + 1; d < shape.rank(); ++d) behind_ *= shape[d];
  }

  int64_t count() const { return count_; }
  int64_t before() const { return before_; }
  int64_t behind() const { return behind_; }
  int64_t Place(int64_t part, int64_t k) const {
    return (k / behind_ * count_ + part) * behind_ + k % behind_;
  }
  // NaN comes last.
  int Compare(int64_t a, int64_t b) const {
    for (int64_t k = 0; k < before_ * behind_; ++k) {
      const Element x = x_.ExactAt(Place(a, k)), y = x_.ExactAt(Place(b, k));
      const bool x_nan = std::isnan(x), y_nan = std::isnan(y);
      if (x_nan != y_nan) return x_nan ? 1 : -1;
      if (!x_nan && x != y) return x < y ? -1 : 1;
    }
    return 0;
  }

 private:
  const Tensor& x_;
  const int64_t count_;
  int64_t before_ = 1, behind_ = 1;
};

// The parts with these numbers.
Tensor UniqueTaken(const Tensor& x, const UniqueParts& parts,
                   const Extents& numbers, const Shape& shape) {
  std::byte* to = nullptr;
  Tensor taken = Tensor::Allocate({x.type().dtype, shape}, &to);
  const int64_t size = SizeOf(x.type().dtype);
  const auto run = static_cast<size_t>(parts.behind() * size);
  for (int64_t b = 0; b < parts.before(); ++b) {
    for (const int64_t number : numbers) {
      const int64_t from = parts.Place(number, b * parts.behind());
      std::memcpy(to, x.bytes() + from * size, run);
      to += run;
    }
  }
  return taken;
}

}  // namespace

namespace {

// All elements, or rows, ascending.
void UniqueByData(Call& c) {
  UniqueAttrs attrs = {
      .return_index = true, .return_inverse = true, .return_counts = true};
  if (c.HasAttribute("axis")) attrs.axis = 0;
  const std::vector<Value> found =
      c.Ops<op::NpiUnique>({c.In(0)}, std::move(attrs));
  for (int i = 0; i < c.outputs(); ++i)
    c.Give(i, found[static_cast<size_t>(i)]);
}

}  // namespace

void ImportUnique(Call& c) {
  const bool sorted = c.Flag("sorted", true);
  const bool rows = !c.HasAttribute("axis") ||
                    c.Axis(c.Int("axis"), c.ShapeOf(0).rank()) == 0;
  if (sorted && rows && !c.Known(0) && !Call::IsEmpty(c.ShapeOf(0))) {
    return UniqueByData(c);
  }
  const Tensor x = c.Need(0, "data");
  Shape shape = x.shape();
  int axis = 0;
  if (c.HasAttribute("axis")) {
    axis = c.Axis(c.Int("axis"), shape.rank());
  } else {
    shape = Shape{shape.elements()};
  }
  c.Require(!Call::IsEmpty(shape), "data have no elements");
  const UniqueParts parts(x, shape, axis);
  Extents order;
  for (int64_t i = 0; i < parts.count(); ++i) order.push_back(i);
  std::ranges::stable_sort(
      order, [&](int64_t a, int64_t b) { return parts.Compare(a, b) < 0; });
  // Of each group its first; which group each part is of.
  Extents firsts, groups(parts.count()), counts;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || parts.Compare(order[i - 1], order[i]) != 0) {
      firsts.push_back(order[i]);
      counts.push_back(0);
    }
    groups[order[i]] = static_cast<int64_t>(firsts.size()) - 1;
    ++counts.back();
  }
  if (!sorted) {
    Extents by_first, renumbered(firsts.size()), old = firsts,
                                                 old_counts = counts;
    for (size_t g = 0; g < firsts.size(); ++g) {
      by_first.push_back(static_cast<int64_t>(g));
    }
    std::ranges::sort(by_first, {}, [&](int64_t g) { return old[g]; });
    for (size_t k = 0; k < by_first.size(); ++k) {
      firsts[k] = old[by_first[k]];
      counts[k] = old_counts[by_first[k]];
      renumbered[by_first[k]] = static_cast<int64_t>(k);
    }
    for (int64_t& group : groups) group = renumbered[group];
  }
  shape[axis] = static_cast<int64_t>(firsts.size());
  c.Give(0, UniqueTaken(x, parts, firsts, shape));
  c.Give(1, IntTensor(firsts, LengthOf(firsts)));
  c.Give(2, IntTensor(groups, LengthOf(groups)));
  c.Give(3, IntTensor(counts, LengthOf(counts)));
}

namespace {

constexpr int64_t kMostCompared = 100'000'000;

// A box by its corners, whichever of them came first.
struct NmsBox {
  float low[2], high[2];

  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

NmsBox NmsBoxOf(const Tensor& boxes, int64_t row, bool by_centre) {
  float v[4];
  for (int k = 0; k < 4; ++k) v[k] = static_cast<float>(boxes.At(row * 4 + k));
  NmsBox box{};
  for (int d = 0; d < 2; ++d) {
    if (by_centre) {
      const float half = v[2 + d] / 2;
      box.low[d] = v[d] - half;
      box.high[d] = v[d] + half;
    } else {
      box.low[d] = std::min(v[d], v[2 + d]);
      box.high[d] = std::max(v[d], v[2 + d]);
    }
  }
  return box;
}

bool NmsOverlap(const NmsBox& a, const NmsBox& b, float threshold) {
  float meet = 1;
  for (int d = 0; d < 2; ++d) {
    const float side =
        std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]);
    if (side <= 0) return false;
    meet *= side;
  }
  if (a.area() <= 0 || b.area() <= 0) return false;
  return meet / (a.area() + b.area() - meet) > threshold;
}

struct NmsOptions {
  int64_t most = 0;  // boxes of a class
  float overlap = 0;
  bool bounded = false;  // scores have to be above `least`
  float least = 0;
  bool by_centre = false;
};

NmsOptions NmsOptionsOf(Call& c) {
  NmsOptions o;
  o.by_centre = c.Flag("center_point_box");
  if (c.Has(2)) o.most = c.NeedInt(2, "max_output_boxes_per_class");
  if (c.Has(3)) {
    o.overlap = static_cast<float>(c.NeedFloat(3, "iou_threshold"));
  }
  o.bounded = c.Has(4);
  if (o.bounded) {
    o.least = static_cast<float>(c.NeedFloat(4, "score_threshold"));
  }
  c.Require(o.overlap >= 0 && o.overlap <= 1,
            "iou_threshold is {}, expected 0 to 1", o.overlap);
  return o;
}

Tensor NmsOfKnown(Call& c, const Tensor& boxes, const Tensor& scores,
                  const NmsOptions& o) {
  const Shape &b = boxes.shape(), &s = scores.shape();
  Extents found;
  int64_t compared = 0;
  for (int64_t group = 0; group < s[0] * s[1]; ++group) {
    const int64_t sample = group / s[1];
    const auto score = [&](int64_t i) {  // what is no number comes last
      const double value = scores.At(group * s[2] + i);
      return std::isnan(value) ? -HUGE_VAL : value;
    };
    Extents order;
    for (int64_t i = 0; i < s[2]; ++i) {
      if (!o.bounded || score(i) > static_cast<double>(o.least)) {
        order.push_back(i);
      }
    }
    std::ranges::stable_sort(
        order, [&](int64_t x, int64_t y) { return score(x) > score(y); });
    std::vector<NmsBox> kept;
    for (const int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) >= o.most) break;
      compared += static_cast<int64_t>(kept.size());
      c.Require(compared < kMostCompared,
                "more than {} pairs of boxes would be compared", kMostCompared);
      const NmsBox box = NmsBoxOf(boxes, sample * b[1] + i, o.by_centre);
      if (std::ranges::any_of(kept, [&](const NmsBox& other) {
            return NmsOverlap(box, other, o.overlap);
          })) {
        continue;
      }
      kept.push_back(box);
      found.insert(found.end(), {sample, group % s[1], i});
    }
  }
  return IntTensor(found, Shape{static_cast<int64_t>(found.size()) / 3, 3});
}

// [B, N, 4]: both low coordinates, then both high ones.
Value NmsCorners(Call& c, bool by_centre) {
  const Value first = c.SliceAxis(c.In(0), 2, 0, 2);
  const Value second = c.SliceAxis(c.In(0), 2, 2, 4);
  if (by_centre) {
    const Value half = c.Mul(second, 0.5);
    return c.Concat({c.Sub(first, half), c.Add(first, half)}, 2);
  }
  return c.Concat({c.Op<op::BroadcastMinimum>({first, second}),
                   c.Op<op::BroadcastMaximum>({first, second})},
                  2);
}

// Of each class the numbers of its boxes, the best first, −1 behind them; and
// what is not −1 by sample, class and number.
Value NmsByData(Call& c, const NmsOptions& o) {
  const Shape s = c.ShapeOf(1);
  const int64_t most = std::min(o.most, s[2]);
  const Value corners = c.BroadcastTo(
      c.Unsqueeze(NmsCorners(c, o.by_centre), 1), Shape{s[0], s[1], s[2], 4});
  const BoxNmsAttrs attrs = {.overlap_thresh = o.overlap,
                             .valid_thresh = o.bounded ? o.least : -HUGE_VAL,
                             .coord_start = 1,
                             .score_index = 0,
                             .force_suppress = true};
  const std::vector<Value> kept = c.Ops<op::BoxNms>(
      {c.Concat({c.Unsqueeze(c.In(1), 3), corners}, 3)}, attrs);
  const Value numbers = c.SliceAxis(kept[1], 2, 0, most);
  const Value there = c.Op<op::GreaterEqualScalar>(
      {c.Reshape(numbers, {s[0], s[1], most})}, {.scalar = 0});
  const Value places = c.Op<op::NpxNonzero>({there});
  const Value number = c.Op<op::GatherNd>(
      {c.Cast(numbers, DType::kI64), c.Transpose(places, {1, 0})});
  return c.Concat({c.SliceAxis(places, 1, 0, 2), number}, 1);
}

}  // namespace

// boxes [B, N, 4], scores [B, C, N] → [count, 3]: sample, class, box. A score
// has to be above the threshold; an overlap at its threshold passes.
void ImportNonMaxSuppression(Call& c) {
  constexpr int64_t kMostBoxes = 1 << 24;  // that floats number
  const NmsOptions options = NmsOptionsOf(c);
  const Shape b = c.ShapeOf(0), s = c.ShapeOf(1);
  c.Require(b.rank() == 3 && s.rank() == 3 && b[2] == 4 && b[0] == s[0] &&
                b[1] == s[2],
            "boxes {} and scores {} do not fit", ToString(b), ToString(s));
  if (Call::IsEmpty(s) || options.most <= 0) {
    return c.GiveEmpty(DType::kI64, Shape{0, 3});
  }
  const std::optional<Tensor> boxes = c.Known(0), scores = c.Known(1);
  if (boxes && scores) {
    return c.Give(0, NmsOfKnown(c, *boxes, *scores, options));
  }
  c.Require(s[2] < kMostBoxes, "{} boxes, expected fewer than {}", s[2],
            kMostBoxes);
  c.Give(0, NmsByData(c, options));
}

}  // namespace mxc::onnx
