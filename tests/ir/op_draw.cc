// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/op_draw.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/ir/op_run.h"

namespace mxc {

int64_t Draw::MaybeExtreme(int64_t tame) {
  if (extreme_ == 0 || Number(1, extreme_) > 1) return tame;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  static const std::vector<int64_t> extremes = {
      0,         -1,        -2,           7,
      255,       65536,     1 << 20,      1 << 24,
      INT32_MAX, 1ll << 31, 1ll << 32,    1ll << 40,
      1ll << 46, 1ll << 47, 1ll << 53,    1ll << 61,
      1ll << 62, kMost,     -(1ll << 31), -(1ll << 62),
      -kMost - 1};
  return Of(extremes);
}

std::string Draw::Integer() {
  if (tame_) return std::to_string(MaybeExtreme(Number(0, 4)));
  static const std::vector<std::string> extremes = {
      "9223372036854775807", "-9223372036854775808", "4294967296", "1000000"};
  return Number(0, 40) == 0 ? Of(extremes) : std::to_string(Number(-3, 4));
}

std::string Draw::Fraction() {
  if (extreme_ > 0 && Number(1, extreme_) == 1) {
    return Of<std::string>({"1e308", "-1e308", "1e-308", "inf", "-inf", "nan",
                            "9.3e18", "-9.3e18", "1e10", "1e-10"});
  }
  return Of<std::string>({"0", "1", "-1", "0.5", "2"});
}

std::string Draw::List(const std::string& none) {
  if (tame_) {
    std::string text = "(";
    const int64_t length = Number(0, 9) == 0 ? 0 : axes_;
    const int64_t most = Number(0, 1) == 0 ? 1 : 3;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t tame = Number(most == 1 ? 0 : 1, most);
      text += std::to_string(MaybeExtreme(tame)) + ",";
    }
    if (MaybeExtreme(1) != 1) text += "1,1,1,1,1,1,1,1,1";
    return text + ")";
  }
  std::string text = "(";
  for (int64_t i = Number(0, 4); i > 0; --i) {
    text += (Number(0, 9) == 0 && !none.empty() ? none : Integer()) + ",";
  }
  return text + ")";
}

Extents Draw::SmallShape() {
  Extents dims;
  for (int64_t rank = Number(0, 4); rank >= 0; --rank) {
    dims.push_back(Number(1, 4));
  }
  return dims;
}

Extents Draw::FirstShape() {
  Extents dims = SmallShape();
  if (tame_ && Number(0, 2) > 0) {
    dims = {Number(1, 2), Number(1, 4)};
    for (int i = 0; i < axes_; ++i) dims.push_back(Number(2, 5));
  }
  for (int64_t& dim : dims) dim = std::max<int64_t>(-1, MaybeExtreme(dim));
  if (MaybeExtreme(1) != 1) dims.insert(dims.begin(), Number(4, 9), 1);
  return dims;
}

Tensor Draw::Values(const Shape& shape) {
  static const std::vector<float> wild = {
      0,
      -1,
      1e30f,
      -1e30f,
      std::numeric_limits<float>::infinity(),
      std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> values;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const bool odd = Number(0, 9) == 0;
    values.push_back(odd ? Of(wild) : static_cast<float>(Number(-8, 8)) / 2);
  }
  return Floats(shape, values);
}

namespace {

// A text for an attribute, legal or nearly so.
struct AttrDraw : Fields {
  AttrDraw(Draw& draw, std::vector<AttrText>& attrs)
      : draw(draw), attrs(attrs) {}

  void Visit(Field& field) override {
    if (!field.required && draw.Number(0, 1) == 0) return;
    attrs.emplace_back(std::string(field.name), Text(field));
  }
  std::string Text(const Field& field) {
    if (!field.one_of.empty()) return std::string(draw.Of(field.one_of));
    switch (field.value.index()) {
      case 0:
        return draw.Of<std::string>({"True", "False"});
      case 2:
        return draw.Fraction();
      case 4:
        return draw.Of<std::string>({"float32", "int32", "float64"});
      case 5:
        return draw.List("");
      case 6:
        return "(" + draw.Fraction() + ", " + draw.Fraction() + ")";
      case 7:
        return draw.Of<std::string>({"True", "None"});
      case 9:
        return draw.Of<std::string>({"1.5", "None"});
      case 10:
        return draw.Of<std::string>({"float32", "None"});
      case 11:
        return draw.Of<std::string>({draw.List(""), "None"});
      case 12:
        return draw.List("None");
      default:
        return draw.Integer();
    }
  }

  Draw& draw;
  std::vector<AttrText>& attrs;
};

}  // namespace

std::vector<AttrText> DrawAttrs(const Operator& op, Draw& draw) {
  std::vector<AttrText> attrs;
  AttrDraw fields(draw, attrs);
  op.describe(fields);
  return attrs;
}

int CountInputs(const Operator& op, const std::vector<AttrText>& attrs) {
  std::vector<AttrError> errors;
  const AttrsPtr parsed = op.parse(attrs, errors);
  if (!errors.empty() || (op.check && op.check(parsed.get()))) return -1;
  const size_t count = op.inputs(parsed.get()).size();
  return count > 8 ? -1 : static_cast<int>(count);
}

std::vector<Shape> DrawShapes(Draw& draw, int count) {
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i) {
    const bool inferred = draw.tame() && draw.Number(0, 1) == 0;
    const int64_t kind = inferred ? 1 : draw.Number(0, 2);
    shapes.push_back(i == 0      ? Shape(draw.FirstShape())
                     : kind == 0 ? shapes[0]
                     : kind == 1 ? Shape()
                                 : Shape(draw.SmallShape()));
  }
  return shapes;
}

}  // namespace mxc
