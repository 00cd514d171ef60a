// SPDX-License-Identifier: Apache-2.0
#include "frontend/variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "frontend/attributes.h"

namespace mxc {
namespace {

// MXNet's text of a tuple, read as attributes are.
class ReadTuple : public Fields {
 public:
  explicit ReadTuple(std::string_view text) : text_(text) {
    Extents value;
    (*this)("tuple", value);
    if (legal_ && text != "None") value_ = std::move(value);
  }
  const std::optional<Extents>& value() const { return value_; }

 private:
  void Visit(Field& field) override {
    legal_ = !ParseField(field, text_).has_value();
  }

  std::string_view text_;
  bool legal_ = false;
  std::optional<Extents> value_;
};

Shape AnnotatedShape(const std::string& text, bool numpy_shapes) {
  const ReadTuple tuple(text);
  if (!tuple.value()) return Shape::Unknown();
  Extents dims = *tuple.value();
  if (dims.empty() && !numpy_shapes) return Shape::Unknown();
  for (int64_t& dim : dims) {
    if (dim < 0 || (dim == 0 && !numpy_shapes)) dim = Shape::kUnknownDim;
  }
  return dims;
}

// "(0, 3, 224, 224)", "(10,)"
std::string ShapeText(Extents dims, bool numpy_shapes) {
  if (!numpy_shapes) std::ranges::replace(dims, Shape::kUnknownDim, 0);
  return TupleText(dims);
}

// The bytes of a constant's elements, two digits each.
constexpr const char* kConstantAnnotation = "__constant__";

bool NamedLikeParameter(const Node& variable) {
  static constexpr std::string_view kSuffixes[] = {
      "weight", "bias",        "gamma",      "beta",         "parameters",
      "alpha",  "moving_mean", "moving_var", "running_mean", "running_var"};
  return variable.written.annotations.contains("__init__") ||
         std::ranges::any_of(kSuffixes, [&](std::string_view suffix) {
           return variable.name.ends_with(suffix);
         });
}

// What each input is to its operator; data for an operator that is unknown.
std::vector<InputKind> KindsOf(const Node& node) {
  std::vector<InputKind> kinds(node.inputs.size(), InputKind::kData);
  if (node.kind != Node::Kind::kOperator) return kinds;
  const auto specs = node.op->inputs(node.attrs.get());
  for (size_t i = 0; i < std::min(kinds.size(), specs.size()); ++i) {
    kinds[i] = specs[i].kind;
  }
  return kinds;
}

// Whether what the caller says of an input can be.
void RequireFit(const Node& input, std::string_view option,
                Diagnostics& errors) {
  if (const auto unfit = Unfit(input.types[0])) {
    errors.push_back(
        Error({}, "{} gives input '{}' {}", option, input.name, *unfit));
  }
}

void SetKnownShapes(Graph& graph, const BuildOptions& options) {
  for (const auto& [name, dims] : options.known_shapes) {
    Node* node = graph.FindVariable(name);
    if (node == nullptr || node->role != VariableRole::kInput) continue;
    Shape& shape = node->types[0].shape;
    if (shape.known()) continue;
    shape = dims;
    const int batch = BatchAxis(*node, shape.rank());
    if (!options.known_batch && shape.rank() > 0 && batch >= 0) {
      shape[batch] = Shape::kUnknownDim;
    }
  }
}

Diagnostic UnknownInput(const Graph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (const Node* node : graph.Variables(VariableRole::kInput)) {
    known.push_back(node->name);
  }
  return Error({}, "the network has no input '{}'; its inputs: {}", name,
               fmt::join(known, ", "));
}

}  // namespace

void AddOutput(Graph& graph, Value value, OutputNamer& namer) {
  graph.outputs.push_back(value);
  const Node& node = *value.node;
  if (node.kind == Node::Kind::kVariable) {
    graph.output_names.push_back(node.name);
    return;
  }
  const std::string& output = namer.NameOf(value);
  graph.output_names.push_back(node.name.empty() ? output
                                                 : node.name + "_" + output);
}

void SetAnnotatedType(Node& variable, bool numpy_shapes) {
  TensorType& type = variable.types[0];
  const auto& annotations = variable.written.annotations;
  if (const auto shape = annotations.find("__shape__");
      shape != annotations.end()) {
    type.shape = AnnotatedShape(shape->second, numpy_shapes);
  }
  if (const auto dtype = annotations.find("__dtype__");
      dtype != annotations.end()) {
    const std::string& text = dtype->second;
    int64_t flag = -1;
    std::from_chars(text.data(), text.data() + text.size(), flag);
    type.dtype = DTypeFromFlag(flag).value_or(DType::kUnknown);
  }
}

void AnnotateShape(Node& variable, Shape shape, bool numpy_shapes) {
  const int batch = BatchAxis(variable, shape.rank());
  if (batch >= 0) shape[batch] = Shape::kUnknownDim;
  variable.written.annotations["__shape__"] =
      ShapeText(shape.dims(), numpy_shapes);
}

void AnnotateShape(Node& variable) {
  variable.written.annotations["__shape__"] =
      ShapeText(variable.types[0].shape.dims(), /*numpy_shapes=*/false);
}

void AnnotateType(Node& variable) {
  variable.written.annotations["__dtype__"] =
      std::to_string(static_cast<int>(variable.types[0].dtype));
}

std::map<std::string, std::string> AnnotationsOfConstant(const Tensor& value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string bytes;
  for (int64_t i = 0; i < value.size_bytes(); ++i) {
    const auto byte = static_cast<unsigned>(value.bytes()[i]);
    bytes += kDigits[byte >> 4];
    bytes += kDigits[byte & 15];
  }
  return {{"__shape__", ShapeText(value.shape().dims(), true)},
          {"__dtype__", std::to_string(static_cast<int>(value.type().dtype))},
          {kConstantAnnotation, std::move(bytes)}};
}

std::optional<Tensor> AnnotatedConstant(const Node& variable) {
  const std::string* found = variable.written.Annotation(kConstantAnnotation);
  const TensorType& type = variable.types[0];
  if (found == nullptr || !type.known() || Unfit(type)) {
    return std::nullopt;
  }
  const std::string& digits = *found;
  if (static_cast<int64_t>(digits.size()) != 2 * type.bytes()) {
    return std::nullopt;
  }
  std::byte* to = nullptr;
  Tensor value = Tensor::Allocate(type, &to);
  for (size_t i = 0; i < digits.size(); i += 2) {
    uint8_t byte = 0;
    const char* begin = digits.data() + i;
    const auto [end, error] = std::from_chars(begin, begin + 2, byte, 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
    to[i / 2] = std::byte(byte);
  }
  return value;
}

void AssignRoles(Graph& graph) {
  const std::vector<Node*> order = graph.TopologicalOrder();
  for (Node* node : order) {
    if (node->kind != Node::Kind::kVariable) continue;
    node->role = NamedLikeParameter(*node) ? VariableRole::kParameter
                                           : VariableRole::kInput;
  }
  for (const Node* node : order) {
    const std::vector<InputKind> kinds = KindsOf(*node);
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      Node* input = node->inputs[i].node;
      if (input->kind != Node::Kind::kVariable) continue;
      const InputKind kind = kinds[i];
      if (kind == InputKind::kState) input->role = VariableRole::kState;
      if (kind == InputKind::kParameter &&
          input->role == VariableRole::kInput) {
        input->role = VariableRole::kParameter;
      }
    }
  }
}

void DeclareInputs(Graph& graph) {
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    input->declared = true;
  }
}

int BatchAxis(const Node& variable, int rank) {
  const auto layout = variable.written.annotations.find("__layout__");
  if (layout == variable.written.annotations.end()) return 0;
  const size_t axis = layout->second.find('N');
  if (axis == layout->second.npos) return -1;
  return axis < static_cast<size_t>(rank) ? static_cast<int>(axis) : 0;
}

void VisitOpenAxes(
    Graph& graph,
    const std::function<void(Node& input, int axis, int64_t& extent)>& visit) {
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    Shape& shape = input->types[0].shape;
    if (!shape.known_rank()) continue;
    const int batch = BatchAxis(*input, shape.rank());
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (axis != batch && !shape.known(axis)) visit(*input, axis, shape[axis]);
    }
  }
}

Status SetInputTypes(Graph& graph, const BuildOptions& options) {
  Diagnostics errors;
  for (const auto& [name, dtype] : options.input_types) {
    Node* node = graph.FindVariable(name);
    if (node == nullptr || node->role != VariableRole::kInput) {
      errors.push_back(UnknownInput(graph, name));
      continue;
    }
    node->types[0].dtype = dtype;
  }
  for (const auto& [name, dims] : options.input_shapes) {
    if (graph.written.empty_inputs.contains(name)) continue;
    Node* node = graph.FindVariable(name);
    if (node == nullptr) {
      errors.push_back(UnknownInput(graph, name));
      continue;
    }
    if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) {
      errors.push_back(Error({}, "the shape {} of input '{}' cannot be",
                             ToString(dims), name));
      continue;
    }
    node->types[0].shape = dims;
    RequireFit(*node, "--input-shape", errors);
  }
  SetKnownShapes(graph, options);
  if (options.batch > 0) {
    for (Node* node : graph.Variables(VariableRole::kInput)) {
      Shape& shape = node->types[0].shape;
      if (!shape.known_rank() || shape.rank() == 0) continue;
      const int axis = BatchAxis(*node, shape.rank());
      if (axis < 0) continue;
      shape[axis] = options.batch;
      RequireFit(*node, "--batch", errors);
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

void CloseBatches(Graph& graph) {
  std::vector<int64_t*> open;
  std::set<int64_t> batches;
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    Shape& shape = input->types[0].shape;
    if (!shape.known_rank() || shape.rank() == 0) continue;
    const int axis = BatchAxis(*input, shape.rank());
    if (axis < 0) continue;
    if (shape.known()) {
      batches.insert(shape[axis]);
    } else if (std::ranges::count(shape.dims(), Shape::kUnknownDim) == 1 &&
               !shape.known(axis)) {
      open.push_back(&shape[axis]);
    }
  }
  for (int64_t* batch : open) {
    *batch = batches.size() == 1 ? *batches.begin() : 1;
  }
}

std::unordered_set<const Node*> LabelsOf(const Graph& graph) {
  std::unordered_set<const Node*> labels, others;
  for (const auto& node : graph.nodes()) {
    const std::vector<InputKind> kinds = KindsOf(*node);
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const Node* input = node->inputs[i].node;
      if (input->kind == Node::Kind::kOperator) continue;
      const bool label = kinds[i] == InputKind::kLabel;
      (label ? labels : others).insert(input);
    }
  }
  std::erase_if(labels,
                [&](const Node* input) { return others.contains(input); });
  return labels;
}

bool IsLabel(const Graph& graph, const Node& variable) {
  return LabelsOf(graph).contains(&variable);
}

}  // namespace mxc
