// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers as operators, and random numbers. A seed of the file says
// nothing to our generators, whose numbers are others than its writer's anyway:
// the program's own seed decides.
#include <cmath>

#include "frontend/onnx/call.h"
#include "frontend/onnx/tensor_data.h"
#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/random/sample_multinomial.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc::onnx {
namespace {

// The inputs R, T, then as many of each kind as are optimized.
struct OptimizerInputs {
  Value rate, count;  // scalars; the count of the rate's type
  int tensors = 0;
};

Value OneNumber(Call& c, int i, const char* what) {
  const Value value = c.In(i);
  c.Require(value.shape().elements() == 1,
            "{} has shape {}, expected one element", what,
            ToString(value.shape()));
  return c.Reshape(value, Shape(Extents()));
}

OptimizerInputs ReadOptimizer(Call& c, int kinds) {
  OptimizerInputs inputs;
  inputs.rate = OneNumber(c, 0, "the learning rate");
  const DType dtype = inputs.rate.type().dtype;
  c.Require(IsFloat(dtype), "the learning rate is of {}, expected floats",
            MxnetName(dtype));
  inputs.count = c.Cast(OneNumber(c, 1, "the update count"), dtype);
  c.Require(c.inputs() > 2 && (c.inputs() - 2) % kinds == 0,
            "it has {} inputs, expected 2 and {} for each tensor", c.inputs(),
            kinds);
  inputs.tensors = (c.inputs() - 2) / kinds;
  for (int i = 2; i < c.inputs(); ++i) {
    const int first = 2 + (i - 2) % inputs.tensors;
    c.Require(
        c.TypeOf(i) == c.TypeOf(first) && IsFloat(c.DTypeOf(i)),
        "input {} is {}, expected {} floats as the tensor to be optimized", i,
        ToString(c.TypeOf(i)), ToString(c.ShapeOf(first)));
  }
  return inputs;
}

// Tensor k of this kind: 0 is what is optimized, 1 its gradient.
Value OptimizerTensor(Call& c, const OptimizerInputs& inputs, int kind, int k) {
  return c.In(2 + kind * inputs.tensors + k);
}

Value Regularized(Call& c, const OptimizerInputs& inputs, double norm, int k) {
  const Value gradient = OptimizerTensor(c, inputs, 1, k);
  if (norm == 0) return gradient;
  return c.Add(gradient, c.Mul(OptimizerTensor(c, inputs, 0, k), norm));
}

Value AsTensor(Call& c, Value number, Value like) {
  return c.Cast(number, like.type().dtype);
}

// base to the power of a number.
Value PowerOf(Call& c, double base, Value exponent) {
  return c.Op<op::RpowerScalar>({exponent}, {.scalar = base});
}

Value IsPositive(Call& c, Value number) {
  return c.Op<op::GreaterScalar>({number}, {.scalar = 0});
}

}  // namespace

void ImportAdam(Call& c) {
  const double alpha = c.Float("alpha", 0.9F), beta = c.Float("beta", 0.999F);
  const double epsilon = c.Float("epsilon", 1e-6F);
  const double norm = c.Float("norm_coefficient", 0);
  const double norm_after = c.Float("norm_coefficient_post", 0);
  const OptimizerInputs inputs = ReadOptimizer(c, 4);
  const int n = inputs.tensors;
  // R √(1 − βᵀ) / (1 − αᵀ) from the first update on.
  const Value scale = c.Div(c.Sqrt(c.Sub(1, PowerOf(c, beta, inputs.count))),
                            c.Sub(1, PowerOf(c, alpha, inputs.count)));
  const Value rate = c.Mul(inputs.rate, c.Where(IsPositive(c, inputs.count),
                                                scale, c.Ones(scale.type())));
  for (int k = 0; k < n; ++k) {
    const Value x = OptimizerTensor(c, inputs, 0, k);
    const Value gradient = Regularized(c, inputs, norm, k);
    const Value mean = c.Add(c.Mul(OptimizerTensor(c, inputs, 2, k), alpha),
                             c.Mul(gradient, 1 - alpha));
    const Value square = c.Add(c.Mul(OptimizerTensor(c, inputs, 3, k), beta),
                               c.Mul(c.Square(gradient), 1 - beta));
    const Value step = c.Div(c.Mul(mean, AsTensor(c, rate, x)),
                             c.Add(c.Sqrt(square), epsilon));
    Value next = c.Sub(x, step);
    if (norm_after != 0) next = c.Mul(next, 1 - norm_after);
    c.Give(k, next);
    c.Give(n + k, mean);
    c.Give(2 * n + k, square);
  }
}

void ImportAdagrad(Call& c) {
  const double epsilon = c.Float("epsilon", 1e-6F);
  const double norm = c.Float("norm_coefficient", 0);
  const double decay = c.Float("decay_factor", 0);
  const OptimizerInputs inputs = ReadOptimizer(c, 3);
  const Value rate = c.Div(inputs.rate, c.Add(c.Mul(inputs.count, decay), 1.0));
  for (int k = 0; k < inputs.tensors; ++k) {
    const Value x = OptimizerTensor(c, inputs, 0, k);
    const Value gradient = Regularized(c, inputs, norm, k);
    const Value square =
        c.Add(OptimizerTensor(c, inputs, 2, k), c.Square(gradient));
    const Value step = c.Div(c.Mul(gradient, AsTensor(c, rate, x)),
                             c.Add(c.Sqrt(square), epsilon));
    c.Give(k, c.Sub(x, step));
    c.Give(inputs.tensors + k, square);
  }
}

void ImportMomentum(Call& c) {
  const double alpha = c.Float("alpha"), beta = c.Float("beta");
  const double norm = c.Float("norm_coefficient");
  (void)c.String("mode");
  const int nesterov = c.OneOf("mode", {"standard", "nesterov"}, 0);
  const OptimizerInputs inputs = ReadOptimizer(c, 3);
  const Value one = c.Ones(inputs.count.type());
  const Value share =
      c.Where(IsPositive(c, inputs.count), c.Mul(one, beta), one);
  for (int k = 0; k < inputs.tensors; ++k) {
    const Value x = OptimizerTensor(c, inputs, 0, k);
    const Value gradient = Regularized(c, inputs, norm, k);
    const Value momentum = c.Add(c.Mul(OptimizerTensor(c, inputs, 2, k), alpha),
                                 c.Mul(gradient, AsTensor(c, share, x)));
    const Value direction =
        nesterov == 1 ? c.Add(gradient, c.Mul(momentum, alpha)) : momentum;
    c.Give(k, c.Sub(x, c.Mul(direction, AsTensor(c, inputs.rate, x))));
    c.Give(inputs.tensors + k, momentum);
  }
}

void ImportGradient(Call& c) {
  c.Refuse(
      "gradients are computed by 'mxc train', not by operators of the network");
}

// --- random numbers ---------------------------------------------------------

namespace {

// Drawn as f32, with two parameters.
template <class Id>
Value Drawn(Call& c, double first, double second, const Shape& shape) {
  typename AttrsOf<Id>::type attrs;
  attrs.parameters = {first, second};
  attrs.shape = shape.rank() == 0 ? Extents{1} : shape.dims();
  attrs.dtype = DType::kF32;
  return c.Reshape(c.Op<Id>({}, attrs), shape);
}

template <class Id>
void GiveDrawn(Call& c, double first, double second, const Shape& shape,
               DType dtype) {
  c.Ignore("seed");
  c.Require(IsFloat(dtype), "dtype is {}, expected floats", MxnetName(dtype));
  c.Require(shape.rank() <= kMaxTensorRank, "its shape has {} extents",
            shape.rank());
  for (const int64_t extent : shape.dims()) {
    c.Require(extent >= 0, "shape {} has a negative extent", ToString(shape));
  }
  if (Call::IsEmpty(shape)) return c.GiveEmpty(dtype, shape);
  if (const auto unfit = Unfit({dtype, shape})) c.Refuse("it has {}", *unfit);
  c.Give(0, c.Cast(Drawn<Id>(c, first, second, shape), dtype));
}

void GiveUniform(Call& c, const Shape& shape, DType dtype) {
  GiveDrawn<op::RandomUniform>(c, c.Float("low", 0), c.Float("high", 1), shape,
                               dtype);
}

void GiveNormal(Call& c, const Shape& shape, DType dtype) {
  GiveDrawn<op::RandomNormal>(c, c.Float("mean", 0), c.Float("scale", 1), shape,
                              dtype);
}

Shape AskedShape(Call& c) {
  const auto shape = c.Ints("shape");
  c.Require(shape.has_value(), "attribute 'shape' is missing");
  return Shape(*shape);
}

}  // namespace

void ImportRandomUniform(Call& c) {
  GiveUniform(c, AskedShape(c), c.ElementType("dtype", DType::kF32));
}
void ImportRandomUniformLike(Call& c) {
  GiveUniform(c, c.ShapeOf(0), c.ElementType("dtype", c.DTypeOf(0)));
}
void ImportRandomNormal(Call& c) {
  GiveNormal(c, AskedShape(c), c.ElementType("dtype", DType::kF32));
}
void ImportRandomNormalLike(Call& c) {
  GiveNormal(c, c.ShapeOf(0), c.ElementType("dtype", c.DTypeOf(0)));
}

// 1 with the given probabilities.
void ImportBernoulli(Call& c) {
  c.Ignore("seed");
  const DType dtype = c.ElementType("dtype", c.DTypeOf(0));
  const Value chances = c.Cast(c.In(0), DType::kF32);
  const Value numbers = Drawn<op::RandomUniform>(c, 0, 1, chances.shape());
  c.Give(0, c.Cast(c.Op<op::BroadcastLesser>({numbers, chances}), dtype));
}

// [batch, classes] of logarithms → [batch, sample_size].
void ImportMultinomial(Call& c) {
  c.Ignore("seed");
  const int64_t count = c.Int("sample_size", 1);
  const DType dtype = c.ElementType("dtype", DType::kI32);
  c.Require(dtype == DType::kI32 || dtype == DType::kI64,
            "dtype is {}, expected int32 or int64", MxnetName(dtype));
  const Value logarithms = c.Cast(c.In(0), DType::kF32);
  const Shape& shape = logarithms.shape();
  c.Require(shape.rank() == 2, "its input has {} axes, expected 2",
            shape.rank());
  c.Require(count >= 1 && count <= 1 << 24,
            "sample_size is {}, expected 1 to {}", count, 1 << 24);
  const Value chances = c.Op<op::Softmax>({logarithms}, {.axis = -1});
  c.Give(0, c.Op<op::SampleMultinomial>({chances},
                                        {.shape = {count}, .dtype = dtype}));
}

}  // namespace mxc::onnx
