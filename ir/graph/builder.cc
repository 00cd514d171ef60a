// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/builder.h"
#include "ir/support/fnv1a.h"

#include <fmt/format.h>

#include <cstdlib>

namespace mxc {

std::vector<Value> GraphBuilder::Ops(std::string_view op_name,
                                     std::vector<Value> inputs,
                                     std::vector<AttrText> attrs,
                                     std::string_view role) {
  const Operator* op = FindOperator(op_name);
  MXC_CHECK(op != nullptr, "operator '{}'", op_name);
  AttrsPtr parsed = Parsed(*op, attrs);
  return Make(*op, std::move(inputs), op->attrs_type, std::move(parsed),
              role.empty() ? op_name : role, std::move(attrs));
}

std::vector<Value> GraphBuilder::MakeDefault(const Operator& op,
                                             std::vector<Value> inputs,
                                             std::string_view role) {
  return Make(op, std::move(inputs), op.attrs_type, Parsed(op, {}), role);
}

AttrsPtr GraphBuilder::Parsed(const Operator& op,
                              const std::vector<AttrText>& attrs) {
  std::vector<AttrError> errors;
  AttrsPtr parsed = op.parse(attrs, errors);
  if (!errors.empty()) {
    Broken(op, fmt::format("{} {}", errors[0].name, errors[0].message));
  }
  if (op.check) {
    if (const auto violated = op.check(parsed.get())) Broken(op, *violated);
  }
  return parsed;
}

void GraphBuilder::Broken(const Operator& op, const std::string& why) {
  MXC_CHECK(false, "{} in {}: {}", op.name, origin_.name, why);
  std::abort();
}

std::vector<Value> GraphBuilder::Made(Node&, std::vector<AttrText>,
                                      std::vector<Value> outputs) {
  return outputs;
}

std::vector<Value> GraphBuilder::Make(const Operator& op,
                                      std::vector<Value> inputs,
                                      std::type_index type, AttrsPtr attrs,
                                      std::string_view role,
                                      std::vector<AttrText> given) {
  MXC_CHECK(type == op.attrs_type, "operator '{}' has other attributes",
            op.name);
  Node* node =
      graph_.AddOperator(&op,
                         fmt::format("{}/{}{}{}", origin_.name, prefix_, part_,
                                     role.empty() ? op.name : role),
                         std::move(attrs), inputs);
  node->loc = origin_.loc;
  node->part = origin_.part;
  node->origins = origin_.origins.empty()
                      ? std::vector<std::string>{origin_.name}
                      : origin_.origins;
  std::vector<TensorType> types;
  for (const Value& input : inputs) types.push_back(input.type());
  TypeInference inference(types, node->types, graph_.training);
  op.types(node->attrs.get(), inference);
  if (inference.error()) Broken(op, *inference.error());
  std::vector<Value> outputs;
  for (size_t i = 0; i < node->types.size(); ++i) {
    if (!node->types[i].known()) Broken(op, "its result has no known type");
    outputs.push_back(node->out(static_cast<int>(i)));
  }
  return Made(*node, std::move(given), std::move(outputs));
}

Value GraphBuilder::Op(std::string_view op, std::vector<Value> inputs,
                       std::vector<AttrText> attrs, std::string_view role) {
  return Ops(op, std::move(inputs), std::move(attrs), role)[0];
}

Value GraphBuilder::Constant(Tensor value, std::string_view role) {
  Node* node = graph_.AddConstant(fmt::format("{}/{}", origin_.name, role),
                                  std::move(value));
  node->loc = origin_.loc;
  return node->out();
}

Value GraphBuilder::Scalar(double value, DType dtype) {
  return Constant(Tensor::Filled({dtype, Shape{1}}, value),
                  fmt::format("{}", value));
}

Value GraphBuilder::WithScalar(std::string_view op, Value x, double scalar) {
  return Op(op, {x}, {{"scalar", fmt::format("{}", scalar)}});
}

Value GraphBuilder::Filled(std::string_view op, const TensorType& type) {
  // As an attribute () is a shape that is not known.
  if (type.shape.rank() == 0) {
    return Constant(Tensor::Filled(type, op == "_ones" ? 1 : 0), op);
  }
  return Op(op, {},
            {{"shape", ToString(type.shape)},
             {"dtype", std::string(MxnetName(type.dtype))}});
}

Value GraphBuilder::Reshape(Value x, const Shape& shape) {
  if (x.shape() == shape) return x;
  // In the codes of Reshape () stands for nothing at all.
  if (shape.rank() == 0) return Op("_np_reshape", {x}, {{"newshape", "()"}});
  return Op("Reshape", {x}, {{"shape", ToString(shape)}});
}

Value GraphBuilder::SliceAxis(Value x, int axis, int64_t begin, int64_t end,
                              std::string_view role) {
  return Op("slice_axis", {x},
            {{"axis", std::to_string(axis)},
             {"begin", std::to_string(begin)},
             {"end", std::to_string(end)}},
            role);
}

Value GraphBuilder::Concat(const std::vector<Value>& parts, int axis,
                           std::string_view role) {
  if (parts.size() == 1) return parts[0];
  return Op("Concat", parts,
            {{"num_args", std::to_string(parts.size())},
             {"dim", std::to_string(axis)}},
            role);
}

Value GraphBuilder::Sum(Value x, const Extents& axes, bool keepdims) {
  MXC_CHECK(!axes.empty(), "'{}': no axes to sum over", origin_.name);
  return Op("sum", {x},
            {{"axis", ToString(axes)}, {"keepdims", keepdims ? "1" : "0"}});
}

Value GraphBuilder::SumTo(Value x, const Shape& shape) {
  const int more = x.shape().rank() - shape.rank();
  Extents axes;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    const bool added = axis < more;
    if (added || (shape[axis - more] == 1 && x.shape()[axis] != 1)) {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) return x;
  return Reshape(Sum(x, axes), shape);
}

Value GraphBuilder::BroadcastTo(Value x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Extents dims(shape.rank() - x.shape().rank(), 1);
  dims.insert(dims.end(), x.shape().dims().begin(), x.shape().dims().end());
  return Op("broadcast_to", {Reshape(x, dims)}, {{"shape", ToString(shape)}});
}

Value GraphBuilder::Cast(Value x, DType dtype) {
  if (x.type().dtype == dtype) return x;
  return Op("Cast", {x}, {{"dtype", std::string(MxnetName(dtype))}});
}

Value GraphBuilder::State(std::string_view name, Tensor initial,
                          TensorUse use) {
  Node* node = graph_.FindVariable(std::string(name));
  if (node == nullptr) {
    node = graph_.AddVariable(std::string(name));
    node->role = VariableRole::kState;
    node->types[0] = initial.type();
    node->constant = std::move(initial);
    node->use = std::move(use);
  }
  return node->out();
}

void GraphBuilder::Update(Value variable, Value next) {
  graph_.updates.push_back({variable.node, next});
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
  Update(state, Op("elemwise_add", {state, step}, {}, "random"));
  return state;
}

int64_t GraphBuilder::Stream(std::string_view role) const {
  uint64_t hash = Fnv1a(role, Fnv1a("/", Fnv1a(origin_.name)));
  hash ^= hash >> 32;
  return static_cast<int64_t>(hash >> 1);
}

Value GraphBuilder::Uniform(const Shape& shape, std::string_view role) {
  return Op(
      "_philox_uniform", {RandomState()},
      {{"shape", ToString(shape)}, {"stream", fmt::format("{}", Stream(role))}},
      role);
}

Value GraphBuilder::Normal(const Shape& shape, std::string_view role) {
  return Op(
      "_philox_normal", {RandomState()},
      {{"shape", ToString(shape)}, {"stream", fmt::format("{}", Stream(role))}},
      role);
}

GradientBuilder::GradientBuilder(Graph& graph, Node& node,
                                 std::vector<Value> heads,
                                 std::vector<bool> needed)
    : GraphBuilder(graph, node),
      node_(node),
      heads_(std::move(heads)),
      needed_(std::move(needed)) {
  prefix_ = kGradientPrefix;
}

Value GradientBuilder::Head(int i) {
  if (!heads_[i]) heads_[i] = Zeros(node_.types[i]);
  return heads_[i];
}

std::vector<AttrText> GradientBuilder::Attrs() const {
  return node_.op->print(node_.attrs.get());
}

Value GradientBuilder::HeadSummedTo(int input) {
  return Needs(input) ? SumTo(Head(), In(input).shape()) : Value();
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
    gradients[i] = Op("_elementwise_gradient", operands,
                      {{"num_args", std::to_string(operands.size())},
                       {"of", node_.op->name},
                       {"attrs", PrintAttrLines(Attrs())},
                       {"input", std::to_string(i)}},
                      inputs() == 1 ? node_.op->name : InputName(i));
  }
  return gradients;
}

std::string GradientBuilder::InputName(int i) const {
  const auto specs = node_.op->inputs(node_.attrs.get());
  return i < static_cast<int>(specs.size()) ? specs[i].name : std::to_string(i);
}

}  // namespace mxc
