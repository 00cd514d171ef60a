// SPDX-License-Identifier: Apache-2.0
// com.microsoft: what ONNX Runtime's optimizer makes of networks of floats.
// Source: ONNX Runtime 1.32, docs/ContribOperators.md, and what it computes.
#include "frontend/onnx/operators/activation.h"
#include "frontend/onnx/operators/normalization.h"
#include "frontend/onnx/operators/product.h"
#include "frontend/onnx/operators/windows.h"
#include "ir/ops/nn/activation/leaky_relu.h"
#include "ir/ops/tensor/elementwise/hard_sigmoid.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {

namespace {

// In float32 where x is narrower.
template <class F>
void GiveWide(Call& c, Value x, const F& f) {
  const DType dtype = x.type().dtype;
  c.Give(0, c.Cast(f(c.Cast(x, AccumulateType(dtype))), dtype));
}

Value SwappedMatrix(Call& c, Value x) {
  const int rank = x.shape().rank();
  if (rank < 2) return x;
  Extents axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return c.Transpose(x, axes);
}

}  // namespace

void ImportContribGelu(Call& c) {
  GiveWide(c, c.In(0), [&](Value x) { return ExactGelu(c, x); });
}

void ImportFastGelu(Call& c) {
  const Value x = c.Has(1) ? c.Add(c.In(0), c.In(1)) : c.In(0);
  GiveWide(c, x, [&](Value wide) { return TanhGelu(c, wide); });
}

void ImportBiasGelu(Call& c) {
  GiveWide(c, c.Add(c.In(0), c.In(1)),
           [&](Value x) { return ExactGelu(c, x); });
}

void ImportQuickGelu(Call& c) {
  const double alpha = c.Float("alpha", 1.702);
  GiveWide(c, c.In(0), [&](Value x) {
    return c.Mul(x, c.Op<op::Sigmoid>({c.Mul(x, alpha)}));
  });
}

// The first half of the last axis, by the gate that the other half is.
void ImportBiasSplitGelu(Call& c) {
  const Value x = c.Add(c.In(0), c.In(1));
  const int last = x.shape().rank() - 1;
  const int64_t extent = last < 0 ? 0 : x.shape()[last];
  c.Require(extent >= 2 && extent % 2 == 0, "its data have the shape {}",
            ToString(x.shape()));
  GiveWide(c, x, [&](Value wide) {
    return c.Mul(c.SliceAxis(wide, last, 0, extent / 2),
                 ExactGelu(c, c.SliceAxis(wide, last, extent / 2, extent)));
  });
}

void ImportFusedMatMul(Call& c) {
  const double alpha = c.Float("alpha", 1);
  c.Require(!c.Flag("transBatchA") && !c.Flag("transBatchB"),
            "transBatchA and transBatchB are not supported");
  Value a = c.In(0), b = c.In(1);
  if (c.Flag("transA")) a = SwappedMatrix(c, a);
  if (c.Flag("transB")) b = SwappedMatrix(c, b);
  const Value y = MatrixProduct(c, a, b);
  c.Give(0, alpha == 1 ? y : c.Mul(y, alpha));
}

// --- normalisations ---------------------------------------------------------

namespace {

// input + skip + bias, which output 3 shows; in f32 where they are narrower.
Value SkipSum(Call& c, int bias) {
  const Value x = c.In(0), skip = c.In(1);
  const DType dtype = x.type().dtype, wide = AccumulateType(dtype);
  c.Require(skip.shape().rank() <= x.shape().rank(),
            "skip has the shape {}, the input {}", ToString(skip.shape()),
            ToString(x.shape()));
  Value sum = c.Add(c.Cast(x, wide), c.Cast(skip, wide));
  if (c.Has(bias)) sum = c.Add(sum, c.Cast(c.In(bias), wide));
  c.Require(sum.shape() == x.shape(), "skip has the shape {}, the input {}",
            ToString(skip.shape()), ToString(x.shape()));
  if (c.Wants(3)) c.Give(3, c.Cast(sum, dtype));
  return sum;
}

void GiveRmsNormalized(Call& c, Value x, Value scale, int first, double epsilon,
                       DType dtype) {
  const Value inverse = InverseRootMeanSquare(c, x, first, epsilon);
  const Value y = c.Mul(c.Mul(x, inverse), c.Cast(scale, x.type().dtype));
  c.Require(y.shape() == x.shape(), "its scale has shape {}, its data {}",
            ToString(scale.shape()), ToString(x.shape()));
  c.Give(0, c.Cast(y, dtype));
  if (c.Wants(1)) c.Give(1, inverse);
}

}  // namespace

void ImportSkipLayerNormalization(Call& c) {
  c.Require(!c.Wants(1) && !c.Wants(2),
            "its mean and deviation are not supported");
  const double epsilon = c.Float("epsilon", 1e-12);
  const Value sum = SkipSum(c, 4);
  const DType wide = sum.type().dtype;
  const Value beta = c.Has(3) ? c.Cast(c.In(3), wide) : Value();
  const Value y = NormalizedLayer(c, sum, c.Cast(c.In(2), wide), beta, epsilon);
  c.Give(0, c.Cast(y, c.DTypeOf(0)));
}

void ImportSkipSimplifiedLayerNormalization(Call& c) {
  c.Require(!c.Wants(1) && !c.Wants(2),
            "its mean and deviation are not supported");
  const double epsilon = c.Float("epsilon", 1e-12);
  const Value sum = SkipSum(c, 3);
  GiveRmsNormalized(c, sum, c.In(2), sum.shape().rank() - 1, epsilon,
                    c.DTypeOf(0));
}

void ImportSimplifiedLayerNormalization(Call& c) {
  c.Ignore("stash_type");
  const Value given = c.In(0);
  const DType dtype = given.type().dtype;
  const int first = c.Axis(c.Int("axis", -1), given.shape().rank());
  GiveRmsNormalized(c, c.Cast(given, AccumulateType(dtype)), c.In(1), first,
                    c.Float("epsilon", 1e-5), c.DTypeOf(1));
}

void ImportEmbedLayerNormalization(Call& c) {
  const double epsilon = c.Float("epsilon", 1e-12);
  c.Ignore("mask_index_type");
  const Value ids = c.In(0);
  c.Require(ids.shape().rank() == 2,
            "its words have the shape {}, expected 2 "
            "axes",
            ToString(ids.shape()));
  const int64_t batch = ids.shape()[0], length = ids.shape()[1];
  const DType dtype = c.DTypeOf(2), wide = AccumulateType(dtype);
  const auto looked_up = [&](int table, Value at) {
    return c.Cast(c.Op<op::Take>({c.In(table), at},
                                 {.axis = 0, .mode = IndexMode::kClip}),
                  wide);
  };
  c.Require(c.RankOf(2) == 2 && c.RankOf(3) == 2 && c.ShapeOf(3)[0] >= length,
            "its tables have the shapes {} and {}", ToString(c.ShapeOf(2)),
            ToString(c.ShapeOf(3)));
  Value sum = looked_up(2, ids);
  if (c.Has(8)) {
    sum = c.Add(sum, looked_up(3, c.In(8)));
  } else {
    sum = c.Add(sum, c.Cast(c.SliceAxis(c.In(3), 0, 0, length), wide));
  }
  c.Require(c.Has(1) == c.Has(4),
            "its segments and their table belong "
            "together");
  if (c.Has(1)) sum = c.Add(sum, looked_up(4, c.In(1)));
  const Value y = NormalizedLayer(c, sum, c.Cast(c.In(5), wide),
                                  c.Cast(c.In(6), wide), epsilon);
  c.Give(0, c.Cast(y, dtype));
  if (c.Wants(1)) {
    c.Give(1, c.Has(7) ? c.Sum(c.Cast(c.In(7), DType::kI32), {1})
                       : c.Zeros({DType::kI32, Shape{batch}}));
  }
  if (c.Wants(2)) c.Give(2, c.Cast(sum, dtype));
}

// --- layers with their activations ------------------------------------------

namespace {

Value Activated(Call& c, Value x, const std::string& name,
                const std::vector<float>& p) {
  const auto parameter = [&](size_t i, double otherwise) {
    return i < p.size() ? static_cast<double>(p[i]) : otherwise;
  };
  if (name == "Relu") return c.Op<op::Relu>({x});
  if (name == "Tanh") return c.Op<op::Tanh>({x});
  if (name == "Sigmoid") return c.Op<op::Sigmoid>({x});
  if (name == "LeakyRelu") {
    return c.Op<op::LeakyReLU>(
        {x}, {.act_type = LeakyType::kLeaky, .slope = parameter(0, 0.01)});
  }
  if (name == "HardSigmoid") {
    return c.Op<op::HardSigmoid>(
        {x}, {.alpha = parameter(0, 0.2), .beta = parameter(1, 0.5)});
  }
  if (name == "Clip" && p.size() == 2) {
    const Value low = c.Op<op::MaximumScalar>({x}, {.scalar = p[0]});
    return c.Op<op::MinimumScalar>({low}, {.scalar = p[1]});
  }
  c.Refuse("its activation is '{}' with {} parameters", name.substr(0, 40),
           p.size());
}

}  // namespace

void ImportFusedConv(Call& c) {
  const std::string name = c.String("activation", "");
  const auto parameters =
      c.Floats("activation_params").value_or(std::vector<float>());
  Value y = Convolved(c, 1, c.In(0), c.In(1), c.Has(2) ? c.In(2) : Value());
  if (c.Has(3)) {
    c.Require(c.ShapeOf(3) == y.shape(), "Z has the shape {}, the result {}",
              ToString(c.ShapeOf(3)), ToString(y.shape()));
    y = c.Add(y, c.In(3));
  }
  c.Give(0, name.empty() ? y : Activated(c, y, name, parameters));
}

void ImportExpandDims(Call& c) {
  const Shape& shape = c.ShapeOf(0);
  const int axis = c.Axis(c.NeedInt(1, "axis"), shape.rank() + 1);
  c.Require(shape.rank() < kMaxTensorRank, "its data have {} axes",
            shape.rank());
  c.Give(0, c.Unsqueeze(c.In(0), axis));
}

}  // namespace mxc::onnx
