// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/importer.h"

#include <algorithm>
#include <deque>
#include <queue>

#include "frontend/onnx/inner_graph.h"
#include "frontend/onnx/operators.h"
#include "ir/ops/constant_value.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kMostNodes = 200'000;
constexpr int kMostDepth = 64;                // of graphs in graphs
constexpr int64_t kMostElementsInside = 256;  // of a constant in a loop's turn

// "ai.onnx" is the other name of "".
Text DomainOf(Text domain) { return domain == "ai.onnx" ? Text() : domain; }

std::string FunctionKey(Text domain, Text name, Text overload) {
  return fmt::format("{}\n{}\n{}", DomainOf(domain), name, overload);
}

// Where it is a type that we hold as another one.
int32_t NarrowType(int32_t data_type) {
  const auto dtype = onnx::DTypeOf(data_type);
  return dtype && onnx::DataTypeOf(*dtype) == data_type ? 0 : data_type;
}

// What moves elements leaves their type.
void KeepNarrowType(const NodeProto& node, Call& call) {
  constexpr std::string_view kMoves[] = {
      "Concat",  "Expand",   "Flatten",  "Gather",    "Pad",
      "Reshape", "Slice",    "Split",    "Squeeze",   "Tile",
      "Where",   "Compress", "GatherND", "Transpose", "Unsqueeze"};
  if (std::ranges::count(kMoves, std::string_view(node.op_type)) == 0) return;
  const int data = node.op_type == "Where" ? 1 : 0;
  if (!call.Has(data) || call.operand(data).narrow == 0) return;
  for (Operand& result : call.results()) {
    result.narrow = call.operand(data).narrow;
  }
}

// Of a sequence or an optional, what its elements are; else null.
const TypeProto* ElementOfInput(const ValueInfoProto& info) {
  if (info.type == nullptr) return nullptr;
  for (const auto* type :
       {&info.type->sequence_type, &info.type->optional_type}) {
    if (*type != nullptr) return (*type)->elem_type.get();
  }
  return nullptr;
}

bool IsParameter(const Tensor& tensor) {
  return IsFloat(tensor.type().dtype) && tensor.shape().rank() > 0 &&
         tensor.shape().elements() > 0;
}

}  // namespace

std::string NameForPeople(const NodeProto& node) {
  const Text name = !node.name.empty()    ? node.name
                    : node.output.empty() ? Text("without a name")
                                          : node.output[0];
  return fmt::format("node '{}' ({})", name.substr(0, 200),
                     node.op_type.substr(0, 200));
}

namespace {

// The array of a tensor, which lives as long as it.
runtime::NamedArray ArrayOf(Text name, const Tensor& tensor) {
  runtime::NamedArray named;
  // The part before a colon is what a file says of an array.
  named.name = "arg:" + std::string(name);
  named.array.type = static_cast<runtime::ElementType>(tensor.type().dtype);
  named.array.shape = tensor.shape().dims();
  const auto kept = std::make_shared<const Tensor>(tensor);
  named.array.storage =
      std::shared_ptr<std::byte[]>(kept, const_cast<std::byte*>(kept->bytes()));
  return named;
}

// The tensor of a node of the outermost graph that is a constant.
const TensorProto* ConstantOf(const NodeProto& node) {
  if (node.op_type != "Constant" || !node.domain.empty() ||
      node.output.size() != 1) {
    return nullptr;
  }
  for (const AttributeProto& attribute : node.attribute) {
    if (attribute.name == "value") return attribute.t.get();
  }
  return nullptr;
}

bool IsParameterNode(const Tensor& tensor) {
  return IsParameter(tensor) && tensor.shape().elements() > 1;
}

}  // namespace

Result<ParameterArrays> ReadParameterArrays(const ModelProto& model,
                                            const TensorFiles& files) {
  ParameterArrays arrays;
  Diagnostics errors;
  const auto add = [&](const TensorProto& from, Text name, auto is_parameter) {
    const auto tensor = files.Read(from);
    if (!tensor.ok()) {
      errors.push_back(Error({}, "initializer '{}': {}", name.substr(0, 200),
                             tensor.errors().front().message));
    } else if (is_parameter(*tensor)) {
      arrays.push_back(ArrayOf(name, *tensor));
    }
  };
  for (const TensorProto& initializer : model.graph->initializer) {
    add(initializer, initializer.name, IsParameter);
  }
  for (const NodeProto& node : model.graph->node) {
    const TensorProto* tensor = ConstantOf(node);
    if (tensor == nullptr || !onnx::DTypeOf(tensor->data_type)) continue;
    add(*tensor, node.output[0], IsParameterNode);
  }
  if (!errors.empty()) return errors;
  return arrays;
}

Importer::Importer(const ModelProto& model, const TensorFiles& files,
                   const BuildOptions& options)
    : model_(model), files_(files), options_(options) {
  for (const OperatorSetIdProto& opset : model.opset_import) {
    opsets_[DomainOf(opset.domain)] = opset.version;
  }
  for (const FunctionProto& function : model.functions) {
    functions_[FunctionKey(function.domain, function.name, function.overload)] =
        &function;
  }
}

Extents Importer::Rebatched(Extents stated, const Shape& data) {
  if (file_batch_ == 0 || stated.empty() || data.rank() == 0 ||
      stated[0] != file_batch_ || data[0] != batch_) {
    return stated;
  }
  stated[0] = batch_;
  rebatched_ = true;
  return stated;
}

Result<Graph> Importer::Run(Diagnostics& notes) {
  Scope scope;
  scope.opsets = &opsets_;
  scope_ = &scope;
  try {
    const GraphProto& graph = *model_.graph;
    graph_.name = std::string(graph.name);
    graph_.written.numpy_shapes = true;
    AddInitializers(graph, scope, /*outermost=*/true);
    BindSymbols(graph);
    AddInputs(graph, scope);
    if (!errors_.empty()) return std::move(errors_);
    RunNodes(graph.node, scope);
    if (errors_.empty()) AddOutputs(graph, scope);
  } catch (const Refused& refused) {
    errors_.push_back(Error({}, "{}", refused.sentence));
  }
  if (!errors_.empty()) return std::move(errors_);
  if (rebatched_) {
    notes.push_back(Error({},
                          "the file is written for a batch of {}; shapes "
                          "that begin with it begin with {} now",
                          file_batch_, batch_));
  }
  SetRoles();
  for (const auto& node : graph_.nodes()) {
    if (node->kind == Node::Kind::kVariable &&
        node->role == VariableRole::kInput) {
      node->declared = true;
    }
  }
  graph_.RemoveDeadNodes();
  NameConstants();
  return std::move(graph_);
}

// --- inputs and parameters --------------------------------------------------

void Importer::AddInitializers(const GraphProto& graph, Scope& scope,
                               bool outermost) {
  for (const TensorProto& initializer : graph.initializer) {
    auto tensor = files_.Read(initializer);
    if (!tensor.ok()) {
      errors_.push_back(Error({}, "initializer '{}': {}",
                              initializer.name.substr(0, 200),
                              tensor.errors().front().message));
      continue;
    }
    Operand operand;
    if (outermost && IsParameter(*tensor)) {
      operand.parameter = std::string(initializer.name);
    }
    operand.known = std::move(*tensor);
    operand.narrow = NarrowType(initializer.data_type);
    scope.values[initializer.name] = std::move(operand);
  }
  if (!graph.sparse_initializer.empty()) {
    errors_.push_back(
        Error({},
              "sparse initializers are not supported; 'onnx' makes them "
              "dense"));
  }
}

// What the caller's shapes say about the names of extents.
void Importer::BindSymbols(const GraphProto& graph) {
  for (const ValueInfoProto& info : graph.input) {
    if (info.type == nullptr || info.type->tensor_type == nullptr ||
        info.type->tensor_type->shape == nullptr) {
      continue;
    }
    const auto& dims = info.type->tensor_type->shape->dim;
    const auto given = options_.input_shapes.find(std::string(info.name));
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const Text symbol = dims[axis].dim_param;
      if (dims[axis].dim_value || symbol.empty()) continue;
      if (given != options_.input_shapes.end() &&
          given->second.size() == dims.size()) {
        symbols_.emplace(symbol, given->second[axis]);
      } else if (options_.batch > 0 && axis == 0) {
        symbols_.emplace(symbol, options_.batch);
      }
    }
  }
}

void Importer::AddInputs(const GraphProto& graph, Scope& scope) {
  for (const ValueInfoProto& info : graph.input) {
    // Before IR version 4 every initializer was an input, too; a default
    // value today. Both are parameters to us.
    if (scope.values.contains(info.name)) continue;
    if (const TypeProto* element = ElementOfInput(info)) {
      AddSequenceInput(info, *element, scope);
      continue;
    }
    scope.values[info.name] = AddInput(info.name, info.type.get());
  }
}

// The first axis of the first input is the batch; of others it is where they
// say the same of it.
bool Importer::HasBatch(const TensorShapeDimension& first, int64_t batch) {
  if (batch_axis_ == nullptr) {
    batch_axis_ = &first;
    batch_ = batch;
    if (first.dim_value && *first.dim_value != batch) {
      file_batch_ = *first.dim_value;
    }
  }
  return first.dim_value == batch_axis_->dim_value &&
         first.dim_param == batch_axis_->dim_param;
}

// The inputs NAME.0, NAME.1 … that shapes or values are given for stand for the
// elements of a sequence, NAME itself for that of an optional.
void Importer::AddSequenceInput(const ValueInfoProto& info,
                                const TypeProto& element, Scope& scope) {
  const std::string name(info.name);
  const auto given = [&](const std::string& input) {
    return options_.input_shapes.contains(input) ||
           options_.input_values.contains(input);
  };
  const bool optional = info.type->optional_type != nullptr;
  const bool sequence = element.sequence_type != nullptr || !optional;
  const TypeProto* type = &element;
  if (optional && sequence) type = element.sequence_type->elem_type.get();
  std::vector<Operand> elements;
  if (!sequence && given(name)) {
    elements.push_back(AddInput(name, type));
  }
  for (size_t i = 0; sequence; ++i) {
    const std::string input = fmt::format("{}.{}", name, i);
    if (!given(input)) break;
    elements.push_back(AddInput(input, type));
  }
  Operand operand;
  if (sequence && (!optional || !elements.empty())) {
    operand.sequence =
        std::make_shared<const std::vector<Operand>>(std::move(elements));
    elements = {operand};
  }
  if (optional) {
    operand.optional = true;
    operand.sequence =
        std::make_shared<const std::vector<Operand>>(std::move(elements));
  } else if (operand.sequence->empty()) {
    errors_.push_back(Error(
        {},
        "input '{}' is a sequence; --input-shape {}.0:… and so on give its "
        "elements",
        name.substr(0, 200), name.substr(0, 100)));
  }
  scope.values[info.name] = std::move(operand);
}

Operand Importer::AddInput(Text input, const TypeProto* asked) {
  const std::string name(input);
  const auto fail = [&](std::string sentence) {
    errors_.push_back(
        Error({}, "input '{}' {}", name.substr(0, 200), sentence));
    return Operand();
  };
  if (const auto value = options_.input_values.find(name);
      value != options_.input_values.end()) {
    Operand operand{.known = value->second};
    if (asked != nullptr && asked->tensor_type != nullptr) {
      operand.narrow = NarrowType(asked->tensor_type->elem_type);
    }
    return operand;
  }
  if (asked == nullptr || asked->tensor_type == nullptr) {
    return fail(
        "is no tensor; maps, sparse tensors and sequences of sequences cannot "
        "be given to a program");
  }
  const TensorTypeProto& declared = *asked->tensor_type;
  const auto dtype = DTypeOf(declared.elem_type);
  if (!dtype) {
    return fail(fmt::format("has elements of {}, which are not supported",
                            DataTypeName(declared.elem_type)));
  }
  const auto given = options_.input_shapes.find(name);
  Extents dims;
  if (given != options_.input_shapes.end()) {
    dims = given->second;
    if (declared.shape != nullptr &&
        declared.shape->dim.size() != dims.size()) {
      return fail(fmt::format("has {} axes, but --input-shape gives it {}",
                              declared.shape->dim.size(), ToString(dims)));
    }
    if (declared.shape != nullptr && !dims.empty()) {
      (void)HasBatch(declared.shape->dim[0], dims[0]);
    }
  } else if (declared.shape == nullptr) {
    const auto known = options_.known_shapes.find(name);
    if (known == options_.known_shapes.end()) {
      return fail("has no shape in the file; --input-shape gives it one");
    }
    dims = known->second;
  } else {
    const auto& axes = declared.shape->dim;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const Text symbol = axes[axis].dim_param;
      const auto bound = symbols_.find(symbol);
      const auto known = options_.known_shapes.find(name);
      if (axis == 0 && options_.batch > 0 &&
          HasBatch(axes[0], options_.batch)) {
        dims.push_back(options_.batch);
      } else if (axes[axis].dim_value) {
        dims.push_back(*axes[axis].dim_value);
      } else if (!symbol.empty() && bound != symbols_.end()) {
        dims.push_back(bound->second);
      } else if (axis == 0) {  // the batch
        if (!symbol.empty()) symbols_.emplace(symbol, 1);
        dims.push_back(1);
      } else if (known != options_.known_shapes.end() &&
                 known->second.size() == axes.size()) {
        dims.push_back(known->second[axis]);
      } else {
        return fail(fmt::format(
            "leaves the extent{} of axis {} open; --input-shape {}:… gives it "
            "one",
            symbol.empty() ? "" : fmt::format(" '{}'", symbol.substr(0, 100)),
            axis, name.substr(0, 100)));
      }
    }
  }
  const TensorType type = {*dtype, Shape(dims)};
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) {
    return fail(
        fmt::format("has the shape {}, which cannot be", ToString(dims)));
  }
  if (const auto unfit = Unfit(type)) return fail("has " + *unfit);
  Node* node = graph_.AddVariable(name);
  node->op_name = "null";
  node->types[0] = type;
  return Operand{.value = node->out(),
                 .narrow = NarrowType(declared.elem_type)};
}

Value Importer::ValueOf(Operand& operand) {
  if (operand.value) return operand.value;
  if (operand.sequence != nullptr) {
    throw Refused{"a sequence stands where a tensor is expected"};
  }
  const Tensor& tensor = *operand.known;
  if (const auto unfit = Unfit(tensor.type())) {
    throw Refused{fmt::format("an operand has {}", *unfit)};
  }
  if (operand.parameter.empty()) {
    operand.value = ConstantHere(tensor);
    return operand.value;
  }
  Node* variable = graph_.FindVariable(operand.parameter);
  if (variable == nullptr) {
    variable = graph_.AddVariable(operand.parameter);
    variable->op_name = "null";
    variable->role = VariableRole::kParameter;
    variable->types[0] = tensor.type();
    parameter_values_.emplace(variable, tensor);
  }
  operand.value = variable->out();
  return operand.value;
}

// An inner graph is text, which large tensors would make long: they stay
// outside.
Value Importer::ConstantHere(const Tensor& tensor) {
  if (opened_.empty() || tensor.shape().elements() <= kMostElementsInside) {
    return here_->AddConstant("constant", tensor)->out();
  }
  Value value = graph_.AddConstant("constant", tensor)->out();
  for (InnerGraph* inner : opened_) value = inner->Inside(value);
  return value;
}

Operand Importer::Inside(Operand& outside, Scope& scope) {
  Operand inside = outside;
  if (outside.sequence != nullptr) {
    std::vector<Operand> elements = *outside.sequence;
    for (Operand& element : elements) element = Inside(element, scope);
    inside.sequence =
        std::make_shared<const std::vector<Operand>>(std::move(elements));
    return inside;
  }
  inside.value = {};
  const bool copied = outside.known && outside.parameter.empty() &&
                      outside.known->shape().elements() <= kMostElementsInside;
  if (copied || !outside.given()) return inside;
  if (!outside.value) {
    const Place around(*this);
    here_ = scope.around;
    opened_.resize(scope.opened);
    outside.value = ValueOf(outside);
  }
  inside.value = scope.within->Inside(outside.value);
  return inside;
}

std::optional<Tensor> Importer::ValueNow(Value value) const {
  constexpr int64_t kSmall = 4096;  // elements of a parameter
  constexpr double kWork = 1e5;
  constexpr int kMostNodesBehind = 64;
  // Behind the value, each after its inputs.
  Graph graph;
  std::unordered_map<const Node*, std::vector<Value>> made;
  int left = kMostNodesBehind;
  const auto visit = [&](auto&& self, const Node* node) -> bool {
    if (made.contains(node)) return true;
    if (--left < 0) return false;
    if (node->kind == Node::Kind::kConstant) {
      made[node] = {graph.AddConstant(node->name, node->constant)->out()};
      return true;
    }
    if (const auto found = parameter_values_.find(node);
        found != parameter_values_.end()) {
      if (found->second.shape().elements() > kSmall) return false;
      made[node] = {graph.AddConstant(node->name, found->second)->out()};
      return true;
    }
    if (node->kind != Node::Kind::kOperator) return false;
    std::vector<Value> inputs;
    for (const Value& input : node->inputs) {
      if (!self(self, input.node)) return false;
      inputs.push_back(made[input.node][static_cast<size_t>(input.index)]);
    }
    Node* copy = graph.AddOperator(node->op, node->name, node->attrs, inputs);
    copy->types = node->types;
    const auto tensors = ConstantValue(*copy, kWork);
    if (!tensors) return false;
    for (const Tensor& tensor : *tensors) {
      made[node].push_back(graph.AddConstant(node->name, tensor)->out());
    }
    return true;
  };
  if (!visit(visit, value.node)) return std::nullopt;
  return made[value.node][static_cast<size_t>(value.index)].node->constant;
}

// --- nodes ------------------------------------------------------------------

void Importer::CountNode() {
  if (++nodes_ > kMostNodes) {
    throw Refused{
        fmt::format("the network has more than {} nodes when its "
                    "loops and functions are written out",
                    kMostNodes)};
  }
}

namespace {

// Calls `read` with the names that a graph within a node reads; `own` are those
// that it and the graphs around it within the node have made.
template <class Read>
void ReadsFromOutside(const GraphProto& graph, std::set<Text> own,
                      const Read& read) {
  for (const auto& input : graph.input) own.insert(input.name);
  for (const auto& tensor : graph.initializer) own.insert(tensor.name);
  for (const NodeProto& node : graph.node) {
    own.insert(node.output.begin(), node.output.end());
  }
  const auto seen = [&](Text name) {
    if (!own.contains(name)) read(name);
  };
  for (const NodeProto& node : graph.node) {
    std::ranges::for_each(node.input, seen);
    for (const AttributeProto& attribute : node.attribute) {
      if (attribute.g != nullptr) ReadsFromOutside(*attribute.g, own, read);
    }
  }
  for (const ValueInfoProto& output : graph.output) seen(output.name);
}

}  // namespace

// The file's order, but no node before those that it reads.
std::vector<const NodeProto*> Importer::InOrder(
    const std::vector<NodeProto>& nodes) {
  std::map<Text, size_t> maker;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Text output : nodes[i].output) {
      if (!output.empty()) maker.emplace(output, i);
    }
  }
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::vector<int> waits(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto read = [&](Text name) {
      const auto found = maker.find(name);
      if (found == maker.end() || found->second == i) return;
      readers[found->second].push_back(i);
      ++waits[i];
    };
    std::ranges::for_each(nodes[i].input, read);
    for (const AttributeProto& attribute : nodes[i].attribute) {
      if (attribute.g == nullptr) continue;
      ReadsFromOutside(*attribute.g, {}, read);
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<const NodeProto*> order;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(&nodes[i]);
    for (const size_t reader : readers[i]) {
      if (--waits[reader] == 0) ready.push(reader);
    }
  }
  return order;
}

void Importer::RunNodes(const std::vector<NodeProto>& nodes, Scope& scope) {
  const auto order = InOrder(nodes);
  if (order.size() != nodes.size()) {
    throw Refused{"the network goes round in a circle"};
  }
  Scope* outer = std::exchange(scope_, &scope);
  for (const NodeProto* node : order) {
    try {
      RunNode(*node, scope);
    } catch (const Refused& refused) {
      scope_ = outer;
      // Inside of another node its own words say where.
      throw Refused{
          fmt::format("{}: {}", NameForPeople(*node), refused.sentence)};
    }
  }
  scope_ = outer;
}

Operand* Importer::Find(Scope& scope, Text name) {
  const auto found = scope.values.find(name);
  if (found != scope.values.end()) return &found->second;
  if (scope.outer == nullptr) return nullptr;
  Operand* outside = Find(*scope.outer, name);
  if (outside == nullptr || scope.within == nullptr) return outside;
  return &(scope.values[name] = Inside(*outside, scope));
}

void Importer::RunNode(const NodeProto& node, Scope& scope) {
  CountNode();
  const Text domain = DomainOf(node.domain);
  const auto opset = scope.opsets->find(domain);
  std::vector<Operand*> inputs;
  for (const Text name : node.input) {
    if (name.empty()) {
      inputs.push_back(nullptr);
      continue;
    }
    Operand* operand = Find(scope, name);
    if (operand == nullptr) {
      throw Refused{fmt::format("its input '{}' is made by no node",
                                name.substr(0, 200))};
    }
    inputs.push_back(operand);
  }
  Call::Attributes attributes;
  for (const AttributeProto& attribute : node.attribute) {
    const AttributeProto* meant = &attribute;
    if (!attribute.ref_attr_name.empty()) {
      if (scope.attributes == nullptr) {
        throw Refused{fmt::format(
            "attribute '{}' stands for one of a function, and this is none",
            attribute.name.substr(0, 100))};
      }
      const auto found = scope.attributes->find(attribute.ref_attr_name);
      if (found == scope.attributes->end()) continue;
      meant = found->second;
    }
    attributes[attribute.name] = meant;
  }
  Node origin;
  const Text own = !node.name.empty()    ? node.name
                   : node.output.empty() ? node.op_type
                                         : node.output[0];
  origin.name = scope.prefix + std::string(own);
  const int64_t version = opset == scope.opsets->end() ? 0 : opset->second;
  Call call(*this, *here_, origin, node, version, std::move(attributes),
            std::move(inputs));
  const Rule rule = FindRule(domain, node.op_type, version);
  if (rule == nullptr) {
    if (RunFunction(call, node, scope)) {
      return Finish(node, call, origin.name, scope);
    }
    if (opset == scope.opsets->end()) {
      throw Refused{fmt::format(
          "its domain '{}' is none that the model imports", domain)};
    }
    if (IsKnown(domain, node.op_type)) {
      throw Refused{
          fmt::format("{} is not supported at version {} of its "
                      "operators",
                      node.op_type, version)};
    }
    throw Refused{fmt::format("operator '{}' of domain '{}' is not supported",
                              node.op_type.substr(0, 100),
                              domain.empty() ? "ai.onnx" : domain)};
  }
  rule(call);
  KeepNarrowType(node, call);
  if (const std::string unknown = call.UnknownAttribute(); !unknown.empty()) {
    throw Refused{fmt::format("attribute '{}' is not known to {} of version {}",
                              unknown, node.op_type, version)};
  }
  Finish(node, call, origin.name, scope);
}

void Importer::Finish(const NodeProto& node, Call& call,
                      const std::string& name, Scope& scope) {
  for (size_t i = 0; i < node.output.size(); ++i) {
    const Text output = node.output[i];
    if (output.empty()) continue;
    Operand& result = call.results()[i];
    if (!result.given()) {
      throw Refused{fmt::format("its output {} is not supported", i)};
    }
    // The node that makes the result is called as the file calls it.
    if (i == 0 && result.value &&
        result.value.node->kind == Node::Kind::kOperator &&
        result.value.node->name.starts_with(name + "/")) {
      result.value.node->name = name;
    }
    if (scope.outer == nullptr && scope.attributes == nullptr && result.known &&
        !result.value && ConstantOf(node) != nullptr &&
        IsParameterNode(*result.known)) {
      result.parameter = std::string(output);
    }
    scope.values[output] = std::move(result);
  }
}

bool Importer::RunFunction(Call& call, const NodeProto& node, Scope& scope) {
  const auto found =
      functions_.find(FunctionKey(node.domain, node.op_type, node.overload));
  if (found == functions_.end()) return false;
  const FunctionProto& function = *found->second;
  const Place place(*this);
  if (++depth_ > kMostDepth) {
    throw Refused{
        fmt::format("functions call each other more than {} deep", kMostDepth)};
  }
  Scope inner;
  std::map<std::string_view, int64_t> opsets;
  for (const OperatorSetIdProto& opset : function.opset_import) {
    opsets[DomainOf(opset.domain)] = opset.version;
  }
  inner.opsets = &opsets;
  Call::Attributes attributes;
  for (const AttributeProto& attribute : function.attribute_proto) {
    attributes[attribute.name] = &attribute;
  }
  for (const AttributeProto& attribute : node.attribute) {
    const AttributeProto* meant = &attribute;
    if (!attribute.ref_attr_name.empty()) {
      if (scope.attributes == nullptr) continue;
      const auto at = scope.attributes->find(attribute.ref_attr_name);
      if (at == scope.attributes->end()) continue;
      meant = at->second;
    }
    attributes[attribute.name] = meant;
  }
  inner.attributes = &attributes;
  inner.prefix = scope.prefix +
                 std::string(node.name.empty() ? node.op_type : node.name) +
                 "/";
  for (size_t i = 0; i < function.input.size(); ++i) {
    if (static_cast<int>(i) < call.inputs() && call.Has(static_cast<int>(i))) {
      inner.values[function.input[i]] = call.operand(static_cast<int>(i));
    } else {
      inner.values[function.input[i]] = Operand();
    }
  }
  RunNodes(function.node, inner);
  for (size_t i = 0; i < function.output.size(); ++i) {
    const auto result = inner.values.find(function.output[i]);
    if (static_cast<int>(i) >= call.outputs()) break;
    if (result == inner.values.end()) {
      throw Refused{fmt::format("the function's output '{}' is made by no node",
                                function.output[i].substr(0, 100))};
    }
    call.Give(static_cast<int>(i), result->second);
  }
  return true;
}

std::vector<Operand> Importer::RunInner(const GraphProto& graph,
                                        std::vector<Operand> inputs,
                                        std::string prefix,
                                        InnerGraph* within) {
  const Place place(*this);
  if (++depth_ > kMostDepth) {
    throw Refused{
        fmt::format("graphs lie in graphs more than {} deep", kMostDepth)};
  }
  Scope inner;
  inner.outer = scope_;
  inner.attributes = scope_->attributes;
  inner.opsets = scope_->opsets;
  inner.prefix = std::move(prefix);
  if (within != nullptr) {
    inner.within = within;
    inner.around = std::exchange(here_, &within->graph());
    inner.opened = opened_.size();
    opened_.push_back(within);
  }
  if (graph.input.size() != inputs.size()) {
    throw Refused{fmt::format("its graph has {} inputs, expected {}",
                              graph.input.size(), inputs.size())};
  }
  AddInitializers(graph, inner, /*outermost=*/false);
  if (!errors_.empty()) throw Refused{errors_.front().message};
  for (size_t i = 0; i < inputs.size(); ++i) {
    inner.values[graph.input[i].name] = std::move(inputs[i]);
  }
  RunNodes(graph.node, inner);
  std::vector<Operand> outputs;
  for (const ValueInfoProto& output : graph.output) {
    Operand* found = Find(inner, output.name);
    if (found == nullptr) {
      throw Refused{fmt::format("its graph's output '{}' is made by no node",
                                output.name.substr(0, 100))};
    }
    if (within != nullptr) (void)ValueOf(*found);
    outputs.push_back(*found);
  }
  return outputs;
}

// --- outputs ----------------------------------------------------------------

// A sequence's elements are the outputs NAME.0, NAME.1 …, an optional is what it
// has.
void Importer::AddOutput(Operand& operand, const std::string& name) {
  if (operand.narrow != 0) {
    throw Refused{
        fmt::format("it has elements of {}, which no program can give",
                    DataTypeName(operand.narrow))};
  }
  if (operand.sequence == nullptr) {
    const Value value = ValueOf(operand);
    graph_.outputs.push_back(value);
    graph_.output_names.push_back(name);
    return;
  }
  for (size_t i = 0; i < operand.sequence->size(); ++i) {
    Operand element = (*operand.sequence)[i];
    AddOutput(element, operand.optional ? name : fmt::format("{}.{}", name, i));
  }
}

void Importer::AddOutputs(const GraphProto& graph, Scope& scope) {
  for (const ValueInfoProto& output : graph.output) {
    Operand* found = Find(scope, output.name);
    const std::string name(output.name);
    if (found == nullptr) {
      errors_.push_back(
          Error({}, "output '{}' is made by no node", name.substr(0, 200)));
      continue;
    }
    try {
      AddOutput(*found, name);
    } catch (const Refused& refused) {
      errors_.push_back(
          Error({}, "output '{}': {}", name.substr(0, 200), refused.sentence));
    }
  }
  if (graph_.outputs.empty() && errors_.empty()) {
    errors_.push_back(Error({}, "the network has no output"));
  }
}

// Symbols tell variables by name, and a constant is one there.
void Importer::NameConstants() {
  std::set<std::string> names;
  for (const auto& node : graph_.nodes()) {
    if (node->kind == Node::Kind::kVariable) names.insert(node->name);
  }
  int64_t next = 0;
  for (const auto& node : graph_.nodes()) {
    if (node->kind != Node::Kind::kConstant) continue;
    while (!names.insert(node->name).second) {
      node->name = fmt::format("constant{}", next++);
    }
  }
}

// What feeds a state input of an operator is a state.
void Importer::SetRoles() {
  for (const Node* node : graph_.TopologicalOrder()) {
    if (node->kind != Node::Kind::kOperator) continue;
    const auto specs = node->op->inputs(node->attrs.get());
    for (size_t i = 0; i < std::min(specs.size(), node->inputs.size()); ++i) {
      Node* input = node->inputs[i].node;
      if (specs[i].kind == InputKind::kState &&
          input->kind == Node::Kind::kVariable &&
          input->role == VariableRole::kParameter) {
        input->role = VariableRole::kState;
      }
    }
  }
}

}  // namespace mxc::onnx
