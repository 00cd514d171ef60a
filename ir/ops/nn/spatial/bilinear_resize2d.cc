// SPDX-License-Identifier: Apache-2.0
// _contrib_BilinearResize2D: an image in another size, interpolated.
//   data    f[N, C, H, W]
//   like    [N', C', h, w]   mode like only; only its size matters
//   output  f[N, C, h, w]
// Row o reads row o·(H − 1) / (h − 1) of data with align_corners, max((o + ½)·
// H / h − ½, 0) without; always row 0 where h is 1. Columns alike.
// The size: scale_height·H where both scales are given, else height (size), that
// and odd for an odd H (odd_scale), like's, or H made even or odd (to_even_down
// …).
// C1  data, and like, have 4 axes
// C2  the size is positive
// Source: MXNet 1.9.1 operator/contrib/bilinear_resize-inl.h.
#include "ir/ops/nn/spatial/bilinear_resize2d.h"

#include <algorithm>
#include <cmath>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/bilinear.h"
#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {
namespace {

std::vector<InputSpec> BilinearResizeInputs(const BilinearResizeAttrs& a) {
  if (a.mode != ResizeMode::kLike) return {{"data"}};
  return {{"data"}, {"like"}};
}

int64_t ResizedExtent(const BilinearResizeAttrs& a, int d, int64_t in) {
  const bool scale = a.scale_height && a.scale_width;
  const int64_t fixed = d == 0 ? a.height : a.width;
  const auto scaled = [&](int64_t n) {
    return static_cast<int64_t>(std::clamp(
        static_cast<float>(*(d == 0 ? a.scale_height : a.scale_width)) *
            static_cast<float>(n),
        0.0f, 1e6f));
  };
  switch (a.mode) {
    case ResizeMode::kSize:
      return scale ? scaled(in) : fixed;
    case ResizeMode::kOddScale:
      if (!scale) return fixed;
      return in % 2 == 0 ? scaled(in) : scaled(in - 1) + 1;
    case ResizeMode::kToEvenDown:
      return in - in % 2;
    case ResizeMode::kToEvenUp:
      return in + in % 2;
    case ResizeMode::kToOddDown:
      return in - (in + 1) % 2;
    case ResizeMode::kToOddUp:
      return in + (in + 1) % 2;
    case ResizeMode::kLike:
      break;
  }
  return Shape::kUnknownDim;
}

void BilinearResizeTypes(const BilinearResizeAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!RequireImages(t)) return;
  const Shape& data = t.In(0);
  Shape output = data;
  for (int d = 0; d < 2; ++d) {
    if (a.mode == ResizeMode::kLike) {
      output[2 + d] = t.In(1)[2 + d];
    } else if (data.known(2 + d)) {
      output[2 + d] = ResizedExtent(a, d, data[2 + d]);
      if (!t.Require(output[2 + d] > 0, "C2: the output's size is {}",
                     output[2 + d])) {
        return;
      }
    }
  }
  t.SetOut(0, output);
}

Expr SourceOf(const BilinearResizeAttrs& a, Expr o, int64_t in, int64_t out) {
  const auto f32 = [](double x) { return Constant(x, DType::kF32); };
  if (out == 1) return f32(0);
  const Expr at = Cast(o, DType::kF32);
  const double spans =
      static_cast<double>(in - 1) / static_cast<double>(out - 1);
  if (a.align_corners) return at * f32(spans);
  const double cells = static_cast<double>(in) / static_cast<double>(out);
  return Max((at + f32(0.5)) * f32(cells) - f32(0.5), f32(0));
}

void BilinearResizeMeaning(const BilinearResizeAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& in = def.InShape(0);
  const Shape& out = def.OutShape();
  def.Set(0, BilinearWithBorder(SourceOf(a, i[2], in[2], out[2]),
                                SourceOf(a, i[3], in[3], out[3]), in[2], in[3],
                                [&](Expr y, Expr x) {
                                  return Cast(def.In(0, {i[0], i[1], y, x}),
                                              DType::kF32);
                                }));
}

// The same as SourceOf, now.
float SourceNow(const BilinearResizeAttrs& a, int64_t o, int64_t in,
                int64_t out) {
  if (out == 1) return 0;
  const auto at = static_cast<float>(o);
  const auto extent = [](int64_t n) { return static_cast<double>(n); };
  if (a.align_corners) {
    return at * static_cast<float>(extent(in - 1) / extent(out - 1));
  }
  const auto cells = static_cast<float>(extent(in) / extent(out));
  return std::max((at + 0.5f) * cells - 0.5f, 0.0f);
}

// f32[out, in]: what each position along an axis of the output takes of each of
// data.
Tensor ResizeWeights(const BilinearResizeAttrs& a, int64_t in, int64_t out) {
  std::vector<float> weights(static_cast<size_t>(in * out));
  for (int64_t o = 0; o < out; ++o) {
    const float source = SourceNow(a, o, in, out);
    const auto low = std::min(static_cast<int64_t>(source), in - 1);
    const float next = source - std::floor(source);
    weights[static_cast<size_t>(o * in + low)] += 1 - next;
    weights[static_cast<size_t>(o * in + std::min(low + 1, in - 1))] += next;
  }
  return Tensor::FromFloats({out, in}, weights);
}

constexpr int64_t kMostResizeWeights = 1 << 22;

// Rows and columns are resized one after the other, each by a matrix; so are
// the gradients, by the transposed ones.
std::vector<Value> BilinearResizeGradient(const BilinearResizeAttrs& a,
                                          GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  const Shape& out = g.Head().shape();
  if (std::max(in[2] * out[2], in[3] * out[3]) > kMostResizeWeights) {
    return MeaningGradientOfData(g);
  }
  const int64_t images = in[0] * in[1];
  const auto back = [&](Value x, int d, const char* role) {
    const Value weights = g.Cast(
        g.Constant(ResizeWeights(a, in[d], out[d]), role), x.type().dtype);
    const int64_t rows = x.shape().elements() / out[d];
    return g.Op<op::Dot>({g.Reshape(x, {rows, out[d]}), weights}, role);
  };
  const auto turned = [&](Value x, int64_t rows, int64_t columns) {
    return g.Op<op::SwapAxis>({g.Reshape(x, {images, rows, columns})},
                              {.dim1 = 1, .dim2 = 2});
  };
  const Value columns = turned(back(g.Head(), 3, "columns"), out[2], in[3]);
  const Value rows = turned(back(columns, 2, "rows"), in[3], in[2]);
  std::vector<Value> gradients = g.None();
  gradients[0] = g.Reshape(rows, in);
  return gradients;
}

}  // namespace

MXC_OP(BilinearResize2D) {
  return Op<BilinearResizeAttrs>("_contrib_BilinearResize2D")
      .Doc("an image in another size, interpolated")
      .InputsOf(BilinearResizeInputs)
      .Types(BilinearResizeTypes)
      .FloatsOnly()
      .Meaning(BilinearResizeMeaning)
      .Gradient(BilinearResizeGradient);
}

}  // namespace mxc
