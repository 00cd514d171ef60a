// SPDX-License-Identifier: Apache-2.0
// The operators that GraphBuilder's functions stand for.
#include <string>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/differentiated.h"
#include "ir/ops/numpy/shape/np_reshape.h"
#include "ir/ops/tensor/create/filled.h"
#include "ir/ops/tensor/elementwise/add_n.h"
#include "ir/ops/tensor/elementwise/cast.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/slice_axis.h"
#include "ir/ops/tensor/random/philox.h"
#include "ir/ops/tensor/reduction/reduction.h"
#include "ir/ops/tensor/shape/broadcast_to.h"
#include "ir/ops/tensor/shape/concat.h"
#include "ir/ops/tensor/shape/reshape.h"

namespace mxc {

Value GraphBuilder::Add(Value a, Value b) {
  return Op<op::BroadcastAdd>({a, b});
}
Value GraphBuilder::Sub(Value a, Value b) {
  return Op<op::BroadcastSub>({a, b});
}
Value GraphBuilder::Mul(Value a, Value b) {
  return Op<op::BroadcastMul>({a, b});
}
Value GraphBuilder::Div(Value a, Value b) {
  return Op<op::BroadcastDiv>({a, b});
}
Value GraphBuilder::Maximum(Value a, Value b) {
  return Op<op::BroadcastMaximum>({a, b});
}
Value GraphBuilder::Greater(Value a, Value b) {
  return Op<op::BroadcastGreater>({a, b});
}
Value GraphBuilder::Add(Value a, double b) {
  return Op<op::PlusScalar>({a}, {.scalar = b});
}
Value GraphBuilder::Sub(Value a, double b) {
  return Op<op::MinusScalar>({a}, {.scalar = b});
}
Value GraphBuilder::Sub(double a, Value b) {
  return Op<op::RminusScalar>({b}, {.scalar = a});
}
Value GraphBuilder::Mul(Value a, double b) {
  return Op<op::MulScalar>({a}, {.scalar = b});
}
Value GraphBuilder::Div(Value a, double b) {
  return Op<op::DivScalar>({a}, {.scalar = b});
}
Value GraphBuilder::Div(double a, Value b) {
  return Op<op::RdivScalar>({b}, {.scalar = a});
}
Value GraphBuilder::Neg(Value a) { return Op<op::Negative>({a}); }
Value GraphBuilder::Square(Value a) { return Op<op::Square>({a}); }
Value GraphBuilder::Sqrt(Value a) { return Op<op::Sqrt>({a}); }
Value GraphBuilder::Sign(Value a) { return Op<op::Sign>({a}); }
Value GraphBuilder::Abs(Value a) { return Op<op::Abs>({a}); }
Value GraphBuilder::Exp(Value a) { return Op<op::Exp>({a}); }
Value GraphBuilder::Log(Value a) { return Op<op::Log>({a}); }

Value GraphBuilder::Where(Value condition, Value a, Value b) {
  return Op<op::Where>({condition, a, b});
}

Value GraphBuilder::AddAll(const std::vector<Value>& terms,
                           std::string_view role) {
  return Op<op::AddN>(terms, {.num_args = std::ssize(terms)}, role);
}

Value GraphBuilder::Reshape(Value x, const Shape& shape) {
  if (x.shape() == shape) return x;
  // In the codes of Reshape () stands for nothing at all.
  if (shape.rank() == 0) return Op<op::NpReshape>({x}, {.newshape = {}});
  return Op<op::Reshape>({x}, {.shape = shape.dims()});
}

Value GraphBuilder::SliceAxis(Value x, int axis, int64_t begin, int64_t end,
                              std::string_view role) {
  return Op<op::SliceAxis>({x}, {.axis = axis, .begin = begin, .end = end},
                           role);
}

Value GraphBuilder::Concat(const std::vector<Value>& parts, int axis,
                           std::string_view role) {
  if (parts.size() == 1) return parts[0];
  return Op<op::Concat>(parts, {.num_args = std::ssize(parts), .dim = axis},
                        role);
}

Value GraphBuilder::Sum(Value x, const Extents& axes, bool keepdims) {
  MXC_CHECK(!axes.empty(), "'{}': no axes to sum over", origin_.name);
  return Op<op::Sum>({x}, {.axis = axes, .keepdims = keepdims});
}

Value GraphBuilder::BroadcastTo(Value x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Extents dims(shape.rank() - x.shape().rank(), 1);
  dims.insert(dims.end(), x.shape().dims().begin(), x.shape().dims().end());
  return Op<op::BroadcastTo>({Reshape(x, dims)}, {.shape = shape.dims()});
}

Value GraphBuilder::Cast(Value x, DType dtype) {
  if (x.type().dtype == dtype) return x;
  return Op<op::Cast>({x}, {.dtype = dtype});
}

// As an attribute () is a shape that is not known.
Value GraphBuilder::Zeros(const TensorType& type) {
  if (type.shape.rank() == 0)
    return Constant(Tensor::Filled(type, 0), "_zeros");
  return Op<op::Zeros>({}, {.shape = type.shape.dims(), .dtype = type.dtype});
}

Value GraphBuilder::Ones(const TensorType& type) {
  if (type.shape.rank() == 0) return Constant(Tensor::Filled(type, 1), "_ones");
  return Op<op::Ones>({}, {.shape = type.shape.dims(), .dtype = type.dtype});
}

Value GraphBuilder::RandomState() {
  const TensorType type{DType::kI64, Shape{2}};
  const Value state = State("random", Tensor::Filled(type, 0));
  // The last one where nodes draw one after the other.
  for (size_t i = graph_.updates.size(); i-- > 0;) {
    if (graph_.updates[i].variable == state.node) return state;
  }
  std::byte* bytes = nullptr;
  Tensor one = Tensor::Allocate(type, &bytes);
  StoreElement(bytes, type.dtype, 0);
  StoreElement(bytes + SizeOf(type.dtype), type.dtype, 1);
  const Value step = graph_.AddConstant("random/step", std::move(one))->out();
  Update(state, Op<op::ElemwiseAdd>({state, step}, "random"));
  return state;
}

Value GraphBuilder::Uniform(const Shape& shape, std::string_view role) {
  return Op<op::PhiloxUniform>(
      {RandomState()}, {.shape = shape.dims(), .stream = Stream(role)}, role);
}

Value GraphBuilder::Normal(const Shape& shape, std::string_view role) {
  return Op<op::PhiloxNormal>(
      {RandomState()}, {.shape = shape.dims(), .stream = Stream(role)}, role);
}

std::vector<Value> GradientBuilder::Elementwise() {
  MXC_CHECK(node_.types.size() == 1, "operator '{}'", node_.op->name);
  std::vector<Value> operands = {Head()};
  if (node_.op->slope_of_output) {
    operands.push_back(Out());
  } else {
    operands.insert(operands.end(), node_.inputs.begin(), node_.inputs.end());
  }
  std::vector<Value> gradients = None();
  for (int i = 0; i < inputs(); ++i) {
    if (!Needs(i) || !IsFloat(In(i).type().dtype)) continue;
    gradients[i] = Op<op::ElementwiseGradient>(
        operands,
        {.num_args = std::ssize(operands),
         .of = node_.op->name,
         .attrs = PrintAttrLines(Attrs()),
         .input = i},
        inputs() == 1 ? node_.op->name : InputName(i));
  }
  return gradients;
}

}  // namespace mxc
