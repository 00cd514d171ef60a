// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/importer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "frontend/onnx/no_elements.h"
#include "frontend/onnx/node_order.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/parameters.h"
#include "ir/ops/constant_value.h"
#include "ir/support/fnv1a.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kMostNodes = 200'000;
constexpr int64_t kMostSequenced = 1 << 22;
constexpr size_t kMostNameBytes = 256;

// Moved elements keep their type.
void KeepNarrowType(int moved, Call& call) {
  if (moved < 0 || !call.Has(moved) || call.operand(moved).narrow == 0) return;
  for (Operand& result : call.results()) {
    result.narrow = call.operand(moved).narrow;
  }
}

// "node 'conv1' (Conv)"
std::string NameForPeople(const NodeProto& node) {
  const Text name = !node.name.empty()    ? node.name
                    : node.output.empty() ? Text("without a name")
                                          : node.output[0];
  return fmt::format("node '{}' ({})", name.substr(0, 200),
                     node.op_type.substr(0, 200));
}

}  // namespace

std::string Importer::Shortened(std::string_view name, size_t most) {
  if (name.size() <= most) return std::string(name);
  size_t end = most - 20;
  const auto within_letter = [&](size_t i) {  // of UTF-8
    return (static_cast<uint8_t>(name[i]) & 0xC0) == 0x80;
  };
  while (end > 0 && within_letter(end)) --end;
  return fmt::format("{}-{:016x}", name.substr(0, end), Fnv1a(name));
}

std::string Importer::FunctionKey(Text domain, Text name, Text overload) {
  return fmt::format("{}\n{}\n{}", DomainOf(domain), name, overload);
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

Result<Graph> Importer::Run(Diagnostics& notes) {
  Scope scope;
  scope.opsets = &opsets_;
  scope_ = &scope;
  try {
    const GraphProto& graph = *model_.graph;
    graph_.name = std::string(graph.name);
    graph_.written.numpy_shapes = true;
    AddInitializers(graph, scope, /*outermost=*/true);
    AddInputs(graph, scope);
    if (!errors_.empty()) return std::move(errors_);
    RunNodes(graph.node, scope);
    if (errors_.empty()) AddOutputs(graph, scope);
  } catch (const Refused& refused) {
    errors_.push_back(Error({}, "{}", refused.sentence));
  }
  if (!errors_.empty()) {
    if (extents_) errors_[0].notes = extents_->others();
    return std::move(errors_);
  }
  if (const std::string note = extents_->Note(); !note.empty()) {
    notes_.push_back(Error({}, "{}", note));
  }
  notes.Append(notes_);
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
    errors_.push_back(Error(
        {}, "sparse initializers are not supported, expected dense ones"));
  }
}

// --- nodes ------------------------------------------------------------------

void Importer::CountNode(int64_t nodes) {
  nodes_ += nodes;
  if (nodes_ > kMostNodes) {
    throw Refused{
        fmt::format("the network has more than {} nodes when its "
                    "loops and functions are written out",
                    kMostNodes)};
  }
}

void Importer::NoteLength(const Node& node) {
  const bool reads = std::ranges::any_of(node.inputs, [&](const Value& input) {
    return MayHaveLengthByData(input);
  });
  if (reads || node.op->data_length) lengths_.insert(&node);
}

void Importer::CountElements(int64_t elements) {
  elements_ += elements;
  if (elements_ > kMostSequenced) {
    throw Refused{fmt::format("its sequences have more than {} elements in all",
                              kMostSequenced)};
  }
}

void Importer::TakeBytes(int64_t bytes) {
  bytes_left_ -= bytes;
  if (bytes_left_ < 0) {
    throw Refused{
        "what the network computes of constants takes more than 1 GiB"};
  }
}

std::optional<std::vector<Tensor>> Importer::Folded(const Node& node,
                                                    double most) {
  auto values = ConstantValue(node, std::min(most, work_left_));
  if (!values || node.op->view) return values;
  work_left_ -= WorkOf(node);
  for (const Tensor& value : *values) TakeBytes(value.type().bytes());
  return values;
}

const std::vector<const NodeProto*>& Importer::OrderOf(
    const std::vector<NodeProto>& nodes) {
  const auto found = orders_.find(&nodes);
  if (found != orders_.end()) return found->second;
  return orders_.emplace(&nodes, InOrder(nodes)).first->second;
}

void Importer::RunNodes(const std::vector<NodeProto>& nodes, Scope& scope) {
  const auto& order = OrderOf(nodes);
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

// A body's reference stands for what the function is given.
Call::Attributes Importer::AttributesOf(const NodeProto& node,
                                        const Scope& scope) {
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
  return attributes;
}

void Importer::RunNode(const NodeProto& node, Scope& scope) {
  constexpr size_t kManyParts = 32;
  const size_t parts =
      node.input.size() + node.output.size() + node.attribute.size();
  CountNode(1 + static_cast<int64_t>(parts / kManyParts));
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
  Call::Attributes attributes = AttributesOf(node, scope);
  Node origin;
  const Text own = !node.name.empty()    ? node.name
                   : node.output.empty() ? node.op_type
                                         : node.output[0];
  origin.name = scope.prefix + Shortened(own, kMostNameBytes);
  const int64_t version = opset == scope.opsets->end() ? 0 : opset->second;
  const Operation operation = FindOperation(domain, node.op_type, version);
  std::optional<NoElements> none;
  if (operation.each) none.emplace(inputs);
  Call call(*this, *here_, origin, node, version, std::move(attributes),
            std::move(inputs));
  if (operation.rule == nullptr) {
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
  operation.rule(call);
  if (none) none->GiveResults(call);
  KeepNarrowType(operation.moved, call);
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
        !result.value && HoldsParameter(node, *result.known)) {
      result.parameter = std::string(output);
    }
    scope.values[output] = std::move(result);
  }
}

// --- outputs ----------------------------------------------------------------

void Importer::NoteNarrow(std::string_view what, Text name,
                          const Operand& operand) {
  if (operand.narrow == 0) return;
  notes_.push_back(Error(
      {}, "{} '{}' has elements of {}; the program {} {}", what,
      name.substr(0, 200), DataTypeName(operand.narrow),
      what == "input" ? "takes" : "gives", MxnetName(operand.type().dtype)));
}

// A sequence's elements are the outputs NAME.0, NAME.1 …, an optional is what it
// has.
void Importer::AddOutput(Operand& operand, const std::string& name) {
  if (operand.sequence == nullptr) {
    const Shape& shape = operand.type().shape;
    if (Call::IsEmpty(shape)) {
      left_out_ = true;
      notes_.push_back(Error({},
                             "output '{}' has shape {}, which has no elements; "
                             "the program does not give it",
                             name.substr(0, 200), ToString(shape)));
      return;
    }
    NoteNarrow("output", name, operand);
    graph_.outputs.push_back(ValueOf(operand));
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
    if (found->sequence == nullptr && !found->known &&
        extents_->KeepsFileBatch(output, found->type().shape)) {
      errors_.push_back(
          Error({},
                "output '{}' has shape {} for any batch: the file "
                "computes a batch of {} alone",
                name.substr(0, 200), ToString(found->type().shape),
                extents_->file_batch()));
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
    errors_.push_back(Error({}, "{}",
                            left_out_ ? "no output of the network has elements"
                                      : "the network has no output"));
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
