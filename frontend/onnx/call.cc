// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/onnx/importer.h"
#include "frontend/onnx/inner_graph.h"
#include "frontend/onnx/tensor_data.h"
#include "ir/graph/constraint.h"
#include "ir/ops/constant_value.h"
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/indexing/slicing.h"
#include "ir/ops/tensor/shape/transpose.h"

namespace mxc::onnx {
namespace {

// What folding may take of the interpreter's time: about a tenth of a second.
constexpr double kMostWork = 1e6;
constexpr int64_t kMostElements = 1 << 24;  // that a rule computes itself

}  // namespace

Call::Call(Importer& importer, Graph& graph, const Node& origin,
           const NodeProto& node, int64_t opset, Attributes attributes,
           std::vector<Operand*> inputs)
    : WrittenBuilder(graph, origin),
      importer_(importer),
      node_(node),
      opset_(opset),
      attributes_(std::move(attributes)),
      inputs_(std::move(inputs)),
      results_(node.output.size()) {}

bool Call::learns() const { return importer_.learns(); }

// --- inputs -----------------------------------------------------------------

const Operand& Call::operand(int i) {
  Require(Has(i), "input {} is missing", i);
  return *inputs_[i];
}

Value Call::In(int i) {
  Require(Has(i), "input {} is missing", i);
  return ValueOf(*inputs_[i]);
}

Value Call::ValueOf(Operand& operand) { return importer_.ValueOf(operand); }

const TensorType& Call::TypeOf(int i) {
  Require(Has(i), "input {} is missing", i);
  Require(inputs_[i]->sequence == nullptr,
          "input '{}' is a sequence, expected a tensor", node_.input[i]);
  return inputs_[i]->type();
}

int32_t Call::DataTypeOf(int i) {
  const DType dtype = DTypeOf(i);
  const int32_t narrow = inputs_[i]->narrow;
  return narrow != 0 ? narrow : onnx::DataTypeOf(dtype);
}

std::optional<Tensor> Call::Known(int i) const {
  if (!Has(i)) return std::nullopt;
  const Operand& operand = *inputs_[i];
  if (operand.known || !operand.value) return operand.known;
  return importer_.ValueNow(operand.value);
}

std::optional<Tensor> Call::Now(Value value) const {
  return importer_.ValueNow(value);
}

void Call::RequireKnownShape(int i) {
  const Value value = operand(i).value;
  Require(!value || !importer_.MayHaveLengthByData(value),
          "it asks for the shape of '{}', which data decide", node_.input[i]);
}

Tensor Call::Need(int i, std::string_view what) {
  Require(Has(i), "its {}, input {}, is missing", what, i);
  const auto known = Known(i);
  Require(known.has_value(),
          "its {} '{}' is computed of what the program is given, expected one "
          "that is known when it is compiled; --bind {}=FILE makes it so where "
          "it is an input",
          what, node_.input[i], node_.input[i]);
  return *known;
}

Extents Call::NeedInts(int i, std::string_view what) {
  constexpr int64_t kMost = 1 << 20;
  const Tensor tensor = Need(i, what);
  const int64_t count = tensor.shape().elements();
  Require(count <= kMost, "its {} has {} elements", what, count);
  Require(!IsFloat(tensor.type().dtype), "its {} is of floats", what);
  Extents values;
  for (int64_t k = 0; k < count; ++k) {
    values.push_back(static_cast<int64_t>(tensor.ExactAt(k)));
  }
  return values;
}

int64_t Call::NeedInt(int i, std::string_view what) {
  const Extents values = NeedInts(i, what);
  Require(values.size() == 1, "its {} has {} elements, expected one", what,
          values.size());
  return values[0];
}

double Call::NeedFloat(int i, std::string_view what) {
  const Tensor tensor = Need(i, what);
  Require(tensor.shape().elements() == 1,
          "its {} has shape {}, expected one "
          "element",
          what, ToString(tensor.shape()));
  return tensor.At(0);
}

const std::vector<Operand>& Call::SequenceOf(int i) {
  Require(Has(i) && inputs_[i]->sequence != nullptr,
          "input {} is no sequence of known length", i);
  return *inputs_[i]->sequence;
}

void Call::RefuseWith(fmt::string_view format, fmt::format_args args) {
  throw Refused{fmt::vformat(format, args)};
}

// --- outputs ----------------------------------------------------------------

bool Call::Wants(int i) const {
  return i < outputs() && !node_.output[i].empty();
}

void Call::Give(int i, Value value) {
  if (i >= outputs()) return;
  Operand& result = results_[i];
  result = {};
  result.value = value;
  if (value.node->kind == Node::Kind::kConstant) {
    result.known = value.node->constant;
  } else if (value.node->kind == Node::Kind::kVariable) {
    // A parameter that passes through stays known.
    for (const Operand* input : inputs_) {
      if (input != nullptr && input->value == value) result = *input;
    }
  }
}

void Call::SetDataType(int i, int32_t data_type) {
  if (i >= outputs()) return;
  Operand& result = results_[i];
  const bool same = onnx::DataTypeOf(result.type().dtype) == data_type;
  result.narrow = same ? 0 : data_type;
}

void Call::Give(int i, Tensor known) {
  if (i < outputs()) results_[i] = Operand{.known = std::move(known)};
}

void Call::GiveSequence(int i, std::vector<Operand> elements) {
  if (i >= outputs()) return;
  importer_.CountElements(std::ssize(elements));
  results_[i] = {};
  results_[i].sequence =
      std::make_shared<const std::vector<Operand>>(std::move(elements));
}

// --- what rules share -------------------------------------------------------

int Call::Axis(int64_t axis, int rank) const {
  Require(axis >= -rank && axis < rank, "axis {} does not exist; there are {}",
          axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Extents Call::Axes(const Extents& axes, int rank) const {
  Extents sorted;
  for (const int64_t axis : axes) sorted.push_back(Axis(axis, rank));
  std::ranges::sort(sorted);
  Require(std::ranges::adjacent_find(sorted) == sorted.end(),
          "an axis stands twice in {}", TupleText(axes));
  return sorted;
}

Value Call::Transpose(Value x, const Extents& axes) {
  bool same = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    same = same && axes[i] == static_cast<int64_t>(i);
  }
  if (same) return x;
  return Op<op::Transpose>({x}, {.axes = axes});
}

Value Call::Slice(Value x, const Bounds& begin, const Bounds& end,
                  const Bounds& step) {
  return Op<op::Slice>({x}, {.begin = begin, .end = end, .step = step});
}

Value Call::Overwritten(Value data, Value part, const Extents& begin) {
  SliceAttrs at;
  for (int d = 0; d < part.shape().rank(); ++d) {
    at.begin.emplace_back(begin[d]);
    at.end.emplace_back(begin[d] + part.shape()[d]);
  }
  return Op<op::SliceAssign>({data, part}, at);
}

Value Call::Mean(Value x, const Extents& axes) {
  return Op<op::NpiMean>({x}, {.axis = axes, .keepdims = true});
}

Value Call::Unsqueeze(Value x, int axis) {
  Extents dims = x.shape().dims();
  dims.insert(dims.begin() + axis, 1);
  return Reshape(x, dims);
}

bool Call::IsEmpty(const Shape& shape) {
  return std::ranges::count(shape.dims(), 0) > 0;
}

Tensor Call::EmptyTensor(DType dtype, const Shape& shape) const {
  Extents dims = shape.dims();
  std::ranges::replace(dims, 0, 1);
  if (const auto unfit = Unfit({dtype, dims})) {
    Refuse("its result, which has no elements, has {}", *unfit);
  }
  std::byte* nothing = nullptr;
  return Tensor::Allocate({dtype, shape}, &nothing);
}

void Call::GiveEmpty(DType dtype, const Shape& shape) {
  Give(0, EmptyTensor(dtype, shape));
}

void Call::RequireFew(int64_t elements) const {
  Require(elements <= kMostElements,
          "{} numbers would be computed when it is imported, at most {} are",
          elements, kMostElements);
  importer_.TakeBytes(elements * static_cast<int64_t>(sizeof(int64_t)));
}

Value Call::Everywhere(Value scalar, const Shape& shape) {
  return BroadcastTo(Reshape(scalar, Shape(Extents(shape.rank(), 1))), shape);
}

Extents Call::Rebatched(int i, Extents stated) {
  if (Known(i)) return stated;
  return importer_.Rebatched(std::move(stated), ShapeOf(i));
}

Value Call::ConstantInts(const Extents& values, std::string_view role) {
  Require(!values.empty(), "its {} are none", role);
  return Constant(IntTensor(values, Shape{std::ssize(values)}), role);
}

Value Call::ScalarLike(double value, Value like) {
  return Constant(Tensor::Filled({like.type().dtype, Shape(Extents())}, value),
                  fmt::format("{}", value));
}

void Call::Broken(const Operator& op, const std::string& why) {
  Refuse("{}: {}", op.name, ReadViolation(why).sentence);
}

// Operators of constants are constants.
std::vector<Value> Call::Made(Node& node, std::vector<Value> outputs) {
  importer_.CountNode();
  importer_.NoteLength(node);
  outputs = WrittenBuilder::Made(node, std::move(outputs));
  for (const TensorType& type : node.types) {
    if (const auto unfit = Unfit(type)) Refuse("its result has {}", *unfit);
  }
  const bool constant =
      !node.inputs.empty() &&
      std::ranges::all_of(node.inputs, [](const Value& input) {
        return input.node->kind == Node::Kind::kConstant;
      });
  if (!constant) return outputs;
  if (node.op->decompose && !node.op->meaning) {
    auto parts = node.op->decompose(node.attrs.get(), node, *this);
    if (!parts.empty()) return parts;
  }
  if (auto folded = importer_.Folded(node, kMostWork)) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] =
          graph_.AddConstant(node.name, std::move((*folded)[i]))->out();
    }
  }
  return outputs;
}

std::vector<Operand> Call::Run(const GraphProto& graph,
                               std::vector<Operand> inputs,
                               std::string_view part) {
  return importer_.RunInner(graph, std::move(inputs), InnerPrefix(part),
                            nullptr);
}

std::vector<Operand> Call::RunWithin(InnerGraph& within,
                                     const GraphProto& graph,
                                     std::vector<Operand> inputs,
                                     std::string_view part) {
  return importer_.RunInner(graph, std::move(inputs), InnerPrefix(part),
                            &within);
}

std::string Call::InnerPrefix(std::string_view part) const {
  return fmt::format("{}/{}{}", origin_.name, part, part.empty() ? "" : "/");
}

std::vector<Value> Call::Foreach(std::string_view role, LoopTurn& turn,
                                 int64_t turns) {
  for (const Value& row : turn.rows) {
    Extents dims = row.shape().dims();
    dims.insert(dims.begin(), turns);
    if (const auto unfit = Unfit({row.type().dtype, Shape(dims)})) {
      Refuse("what its turns put out has {}", *unfit);
    }
  }
  return AddForeach(graph_, origin_, role, turn, turns);
}

std::vector<Value> Call::WhileLoop(std::string_view role, LoopTurn& turn,
                                   int64_t turns) {
  return AddWhileLoop(graph_, origin_, role, turn, turns);
}

std::vector<Value> Call::Cond(Value condition, Side& then, Side& otherwise) {
  return AddCond(graph_, origin_, condition, then, otherwise);
}

void Call::CountTurn() { importer_.CountNode(); }

Element BoundOf(DType dtype, bool greatest) {
  if (IsFloat(dtype)) {
    const Element infinity = std::numeric_limits<Element>::infinity();
    return greatest ? infinity : -infinity;
  }
  if (dtype == DType::kBool) return greatest ? 1 : 0;
  const bool negative = Rounded(-1, dtype) == -1;
  if (!greatest && !negative) return 0;
  const int bits = static_cast<int>(8 * SizeOf(dtype)) - (negative ? 1 : 0);
  const Element power = std::ldexp(static_cast<Element>(1), bits);
  return greatest ? power - 1 : -power;
}

Operand OperandOf(Value value) {
  Operand operand{.value = value};
  if (value.node->kind == Node::Kind::kConstant) {
    operand.known = value.node->constant;
  }
  return operand;
}

Tensor IntTensor(const Extents& values, Shape shape) {
  MXC_CHECK(std::ssize(values) == shape.elements());
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate({DType::kI64, std::move(shape)}, &to);
  if (!values.empty()) {
    std::memcpy(to, values.data(), values.size() * sizeof(int64_t));
  }
  return tensor;
}

Extents AxesFrom(int first, int rank) {
  Extents axes;
  for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace mxc::onnx
