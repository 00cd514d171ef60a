// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/random/np_random.h"

#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {
namespace {

// Stands for 0 among uniform numbers, which are multiples of 2^-24: the middle
// of those that are rounded to 0.
constexpr double kAboveZero = 2.98023224e-08;

// NumPy's broadcasting of known shapes; nullopt: they do not fit.
std::optional<Extents> BroadcastTogether(const Extents& a, const Extents& b) {
  const Extents& longer = a.size() < b.size() ? b : a;
  const Extents& shorter = a.size() < b.size() ? a : b;
  Extents both = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = both[offset + i];
    if (extent == 1) extent = shorter[i];
    if (shorter[i] != 1 && shorter[i] != extent) return std::nullopt;
  }
  return both;
}

Value AtLeast(GraphBuilder& b, Value x, double least) {
  return b.Op<op::MaximumScalar>({x}, {.scalar = least});
}

}  // namespace

std::vector<InputSpec> NpDrawInputs(const NpDrawRequest& request) {
  std::vector<InputSpec> inputs;
  for (const auto& number : request.parameters) {
    if (number) continue;
    inputs.push_back({fmt::format("input{}", inputs.size() + 1)});
  }
  return inputs;
}

void NpDrawTypes(const NpDrawRequest& request, TypeInference& t) {
  t.SetOutDType(0, request.dtype);
  std::optional<Extents> together = Extents();
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known()) return;
    const Extents& one = t.In(i).dims();
    together = BroadcastTogether(*together, one);
    if (!t.Require(together.has_value(),
                   "C1: parameters of shapes {} and {} do not broadcast",
                   ToString(t.In(0)), ToString(t.In(i)))) {
      return;
    }
  }
  if (!request.size) return t.SetOut(0, Shape(*together));
  Extents size = *request.size;
  if (request.batch) {
    size.insert(size.end(), together->begin(), together->end());
  } else if (!t.Require(BroadcastTogether(size, *together) == size,
                        "C1: parameters of shape {} do not broadcast to {}",
                        ToString(*together), ToString(size))) {
    return;
  }
  t.SetOut(0, Shape(size));
}

std::vector<Value> NpDrawParts(const NpDrawRequest& request, NpDraw draw,
                               const Node& node, GraphBuilder& b) {
  std::vector<Value> parameters;
  auto input = node.inputs.begin();
  for (const auto& number : request.parameters) {
    parameters.push_back(number ? b.Scalar(*number)
                                : b.Cast(*input++, DType::kF32));
  }
  // mx.sym, which does the rest, draws no tensors of shape ().
  const Shape& shape = node.types[0].shape;
  const Shape drawn = shape.rank() == 0 ? Shape{1} : shape;
  const Value values = b.BroadcastTo(draw(b, drawn, parameters), drawn);
  return {b.Cast(b.Reshape(values, shape), request.dtype)};
}

Value DrawNormal(GraphBuilder& b, const Shape& shape,
                 const std::vector<Value>& parameters) {
  return Placed(b, b.Normal(shape), parameters);
}

Value DrawUniform(GraphBuilder& b, const Shape& shape,
                  const std::vector<Value>& parameters) {
  const Value width = b.Sub(parameters[1], parameters[0]);
  return b.Add(b.Mul(b.Uniform(shape), width), parameters[0]);
}

Value Placed(GraphBuilder& b, Value drawn,
             const std::vector<Value>& parameters) {
  return b.Add(b.Mul(drawn, parameters[1]), parameters[0]);
}

Value InsideUnit(GraphBuilder& b, const Shape& shape) {
  return AtLeast(b, b.Uniform(shape), kAboveZero);
}

Value StandardExponential(GraphBuilder& b, const Shape& shape) {
  return AtLeast(b, b.Neg(b.Op<op::Log1p>({b.Neg(b.Uniform(shape))})),
                 kAboveZero);
}

}  // namespace mxc
