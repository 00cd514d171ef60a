// SPDX-License-Identifier: Apache-2.0
// Activations, and the softmax of a tensor.
#include "frontend/onnx/operators/activation.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/activation/leaky_relu.h"
#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/hard_sigmoid.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::onnx {
namespace {

// What is not chosen does not count: 0 times infinity would be no number.
template <class Comparison>
Value OrZero(Call& c, Value x, double bound, Value otherwise) {
  return c.Op<op::NpiWhere>({c.Op<Comparison>({x}, {.scalar = bound}),
                             otherwise, c.ScalarLike(0, x)});
}

}  // namespace

void ImportRelu(Call& c) { c.Give(0, c.Op<op::Relu>({c.In(0)})); }
void ImportSigmoid(Call& c) { c.Give(0, c.Op<op::Sigmoid>({c.In(0)})); }
void ImportSoftsign(Call& c) { c.Give(0, c.Op<op::Softsign>({c.In(0)})); }

void ImportSoftplus(Call& c) {
  c.Give(0, c.Op<op::Activation>({c.In(0)}, {.act_type = ActType::kSoftRelu}));
}

void ImportLeakyRelu(Call& c) {
  c.Give(0, c.Op<op::LeakyReLU>({c.In(0)}, {.act_type = LeakyType::kLeaky,
                                            .slope = c.Float("alpha", 0.01)}));
}

void ImportElu(Call& c) {
  c.Give(0, c.Op<op::LeakyReLU>({c.In(0)}, {.act_type = LeakyType::kElu,
                                            .slope = c.Float("alpha", 1)}));
}

// max(0, x) + min(0, α (exp(x / α) − 1))
void ImportCelu(Call& c) {
  const double alpha = c.Float("alpha", 1);
  c.Require(alpha != 0, "attribute 'alpha' is 0");
  const Value x = c.In(0);
  const Value below = c.Mul(c.Op<op::Expm1>({c.Div(x, alpha)}), alpha);
  c.Give(0, c.Add(c.Op<op::Relu>({x}),
                  c.Op<op::MinimumScalar>({below}, {.scalar = 0})));
}

void ImportSelu(Call& c) {
  const double alpha = c.Float("alpha", 1.67326319217681884765625);
  const double gamma = c.Float("gamma", 1.05070102214813232421875);
  const Value x = c.In(0);
  const Value below = c.Mul(c.Op<op::Expm1>({x}), alpha * gamma);
  c.Give(0, c.Op<op::Where>({c.Op<op::GreaterScalar>({x}, {.scalar = 0}),
                             c.Mul(x, gamma), below}));
}

void ImportThresholdedRelu(Call& c) {
  const double alpha = c.Float("alpha", 1);
  const Value x = c.In(0);
  c.Give(0, OrZero<op::NpiGreaterScalar>(c, x, alpha, x));
}

void ImportHardSigmoid(Call& c) {
  c.Give(0, c.Op<op::HardSigmoid>({c.In(0)}, {.alpha = c.Float("alpha", 0.2),
                                              .beta = c.Float("beta", 0.5)}));
}

// x · max(0, min(1, x / 6 + 1 / 2))
void ImportHardSwish(Call& c) {
  const Value x = c.In(0);
  const Value gate =
      c.Op<op::HardSigmoid>({x}, {.alpha = 1.0 / 6, .beta = 0.5});
  c.Give(0, c.Mul(x, gate));
}

void ImportSwish(Call& c) {
  const double alpha = c.Float("alpha", 1);
  const Value x = c.In(0);
  c.Give(0, c.Mul(x, c.Op<op::Sigmoid>({alpha == 1 ? x : c.Mul(x, alpha)})));
}

void ImportMish(Call& c) {
  const Value x = c.In(0);
  const Value softplus =
      c.Op<op::Activation>({x}, {.act_type = ActType::kSoftRelu});
  c.Give(0, c.Mul(x, c.Op<op::Tanh>({softplus})));
}

Value ExactGelu(Call& c, Value x) {
  return c.Op<op::LeakyReLU>({x}, {.act_type = LeakyType::kGelu});
}

Value TanhGelu(Call& c, Value x) {
  const Value cube = c.Mul(c.Mul(x, c.Square(x)), 0.044715);
  const Value inner = c.Mul(c.Add(x, cube), std::sqrt(2 / std::numbers::pi));
  return c.Mul(c.Mul(x, 0.5), c.Add(c.Op<op::Tanh>({inner}), 1.0));
}

void ImportGelu(Call& c) {
  const int tanh = c.OneOf("approximate", {"none", "tanh"}, 0);
  c.Give(0, tanh == 0 ? ExactGelu(c, c.In(0)) : TanhGelu(c, c.In(0)));
}

// Slopes broadcast to x one way. One for each channel is the layer that
// convolutions take in.
void ImportPRelu(Call& c) {
  const Value x = c.In(0), slope = c.In(1);
  const Shape &slopes = slope.shape(), &shape = x.shape();
  const int rank = shape.rank(), channel = slopes.rank() - (rank - 1);
  if (IsFloat(x.type().dtype) && rank > 1 && channel >= 0 && channel <= 1 &&
      slopes[channel] == shape[1] && slopes.elements() == shape[1]) {
    const Value gamma = c.Reshape(slope, Shape{shape[1]});
    return c.Give(
        0, c.Op<op::LeakyReLU>({x, gamma}, {.act_type = LeakyType::kPrelu}));
  }
  const Value below = c.Mul(x, slope);
  c.Require(below.shape() == shape, "its slope has shape {}, x has {}",
            ToString(slopes), ToString(shape));
  c.Give(0, c.Op<op::Where>(
                {c.Op<op::LesserScalar>({x}, {.scalar = 0}), below, x}));
}

void ImportShrink(Call& c) {
  const double bias = c.Float("bias", 0), lambda = c.Float("lambd", 0.5);
  const Value x = c.In(0);
  const Value above =
      OrZero<op::NpiGreaterScalar>(c, x, lambda, c.Sub(x, bias));
  c.Give(0, c.Op<op::Where>({c.Op<op::LesserScalar>({x}, {.scalar = -lambda}),
                             c.Add(x, bias), above}));
}

// The bounds of numbers of floating point, where both are known and in order.
std::optional<ClipAttrs> KnownBounds(Call& c) {
  if (!c.Has(1) || !c.Has(2) || !IsFloat(c.DTypeOf(0))) return {};
  const auto low = c.Known(1), high = c.Known(2);
  if (!low || !high) return {};
  if (low->shape().elements() != 1 || high->shape().elements() != 1) return {};
  const ClipAttrs bounds = {.a_min = low->At(0), .a_max = high->At(0)};
  return bounds.a_min <= bounds.a_max ? std::optional(bounds) : std::nullopt;
}

// min(max(x, low), high): where low exceeds high, high.
void ImportClip(Call& c) {
  if (const auto bounds = KnownBounds(c)) {
    return c.Give(0, c.Op<op::Clip>({c.In(0)}, *bounds));
  }
  Value x = c.In(0);
  const auto bound = [&](int i) {
    const Value value = c.In(i);
    c.Require(value.shape().elements() == 1,
              "its bound, input {}, has shape {}, expected one element", i,
              ToString(value.shape()));
    return c.Reshape(value, Shape(Extents()));
  };
  if (c.Has(1)) x = c.Maximum(x, bound(1));
  if (c.Has(2)) x = c.Op<op::BroadcastMinimum>({x, bound(2)});
  if (!c.Has(1) && !c.Has(2)) return c.Give(0, c.operand(0));
  c.Give(0, x);
}

void ImportClipByAttributes(Call& c) {
  c.Ignore("consumed_inputs");
  const bool low = c.HasAttribute("min"), high = c.HasAttribute("max");
  Value x = c.In(0);
  if (!low && !high) return c.Give(0, c.operand(0));
  if (low) {
    x = c.Op<op::MaximumScalar>({x}, {.scalar = c.Float("min")});
  }
  if (high) {
    x = c.Op<op::MinimumScalar>({x}, {.scalar = c.Float("max")});
  }
  c.Give(0, x);
}

namespace {

template <class Id>
void SoftmaxAlong(Call& c) {
  const int axis = c.Axis(c.Int("axis", -1), c.RankOf(0));
  c.Give(0, c.Op<Id>({c.In(0)}, {.axis = axis}));
}

// Below version 13 all axes from `axis` on count as one.
template <class Id>
void SoftmaxOfRows(Call& c) {
  const int64_t axis = c.Int("axis", 1);
  const Value x = c.In(0);
  const int rank = x.shape().rank();
  c.Require(axis >= -rank && axis <= rank, "axis {} does not exist", axis);
  const auto first = static_cast<int>(axis < 0 ? axis + rank : axis);
  if (first == rank - 1) {
    return c.Give(0, c.Op<Id>({x}, {.axis = first}));
  }
  int64_t rows = 1;
  for (int i = 0; i < first; ++i) rows *= x.shape()[i];
  const Value flat = c.Reshape(x, Shape{rows, x.shape().elements() / rows});
  c.Give(0, c.Reshape(c.Op<Id>({flat}, {.axis = 1}), x.shape()));
}

}  // namespace

void ImportSoftmax(Call& c) { SoftmaxAlong<op::Softmax>(c); }
void ImportLogSoftmax(Call& c) { SoftmaxAlong<op::LogSoftmax>(c); }
void ImportSoftmaxOfRows(Call& c) { SoftmaxOfRows<op::Softmax>(c); }
void ImportLogSoftmaxOfRows(Call& c) { SoftmaxOfRows<op::LogSoftmax>(c); }

}  // namespace mxc::onnx
