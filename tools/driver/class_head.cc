// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/class_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "tools/driver/class_labels.h"

namespace mxc {
namespace {

struct Loss {
  const Node* node = nullptr;
  const Node* scores = nullptr;  // has an axis of classes
  int64_t classes = 0;
  std::string label;  // the input; empty where it is computed
};

// The attribute that says how many outputs a layer has, as it is called.
constexpr std::string_view kWidths[] = {"num_hidden", "num_filter",
                                        "output_dim"};

std::optional<AttrText> WidthOf(const Node& node) {
  if (node.kind != Node::Kind::kOperator) return std::nullopt;
  for (const AttrText& attr : node.op->print(node.attrs.get())) {
    if (std::ranges::count(kWidths, attr.first) > 0) return attr;
  }
  return std::nullopt;
}

bool IsLearned(const Node& node) {
  return node.kind == Node::Kind::kVariable &&
         node.role != VariableRole::kInput;
}

// The axis of the classes of what the network answers, which no loss reads.
int AnswerAxis(const Node& node, int rank) {
  const std::string text = AttributeText(node, "axis");
  const int axis = text.empty() ? rank - 1 : std::atoi(text.c_str());
  return axis < 0 ? axis + rank : axis;
}

std::optional<Loss> LossOf(const Node& node) {
  if (node.kind != Node::Kind::kOperator || node.inputs.size() < 2) return {};
  const Shape& data = node.inputs[0].shape();
  if (!data.known_rank()) return {};
  const auto axis = ClassAxis(node, data.rank());
  if (!axis || *axis < 0 || *axis >= data.rank()) return {};
  const Node* label = InputBehind(node.inputs[1]);
  return Loss{&node, node.inputs[0].node, data[*axis],
              label == nullptr ? "" : label->name};
}

std::vector<Loss> LossesOf(const Graph& graph) {
  std::vector<Loss> losses;
  for (const Node* node : graph.TopologicalOrder()) {
    if (const auto loss = LossOf(*node)) losses.push_back(*loss);
  }
  if (!losses.empty() || graph.outputs.size() != 1) return losses;
  const Node& answer = *graph.outputs[0].node;
  const Shape& shape = graph.outputs[0].shape();
  if (answer.kind != Node::Kind::kOperator || answer.IsLossHead() ||
      !shape.known_rank() || shape.rank() < 2) {
    return losses;
  }
  const int axis = AnswerAxis(answer, shape.rank());
  if (axis < 1 || axis >= shape.rank()) return losses;
  return {Loss{&answer, &answer, shape[axis], ""}};
}

Status RequireSameClasses(const std::vector<Loss>& losses) {
  const Loss& first = losses.front();
  for (const Loss& other : losses) {
    if (other.label == first.label && other.classes == first.classes) continue;
    return Error(other.node->loc,
                 "which classes are meant is not known: '{}' tells {} apart by "
                 "label '{}', '{}' {} by '{}'",
                 first.node->name, first.classes, first.label, other.node->name,
                 other.classes, other.label);
  }
  return Done{};
}

// Goes back from a loss, past all that has no width of its own.
class Walk {
 public:
  explicit Walk(ClassHead& head) : head_(head) {}

  void From(const Node& node) {
    std::vector<const Node*> open = {&node};
    while (!open.empty()) {
      const Node* at = open.back();
      open.pop_back();
      if (!seen_.insert(at).second) continue;
      if (IsLearned(*at)) head_.parameters.insert(at->name);
      const auto width = WidthOf(*at);
      if (!width) {
        for (const Value& input : at->inputs) open.push_back(input.node);
      } else if (width->second == std::to_string(head_.classes)) {
        head_.layers.push_back({at->name, width->first});
        for (const Value& input : at->inputs) {
          if (IsLearned(*input.node)) {
            head_.parameters.insert(input.node->name);
          }
        }
      }
    }
  }

 private:
  ClassHead& head_;
  std::unordered_set<const Node*> seen_;
};

// Files may say the shapes of parameters; those of layers follow.
void ForgetShape(Node& variable) {
  variable.types[0].shape = Shape();
  variable.written.Annotate("__shape__", "");
}

Status SetWidth(const std::string& attribute, int64_t classes, Node& layer) {
  std::vector<AttrText> attrs = layer.op->print(layer.attrs.get());
  const std::string text = std::to_string(classes);
  SetText(attribute, text, attrs);
  layer.written.SetAttribute(attribute, text);
  std::vector<AttrError> errors;
  AttrsPtr parsed = layer.op->parse(attrs, errors);
  if (!errors.empty()) {
    return Error(layer.loc, "'{}' cannot have {} outputs: {}", layer.name,
                 classes, errors.front().message);
  }
  layer.attrs = std::move(parsed);
  for (const Value& input : layer.inputs) {
    if (IsLearned(*input.node)) ForgetShape(*input.node);
  }
  return Done{};
}

// Of what lies between the layers and the loss, an element for each class.
void SetExtents(int64_t before, int64_t after, Node& variable) {
  Shape& shape = variable.types[0].shape;
  if (!shape.known_rank()) return;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != before) continue;
    shape[axis] = after;
    variable.written.Annotate("__shape__", "");
  }
}

}  // namespace

std::string ClassHead::Names() const {
  std::string text;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) text += i + 1 == layers.size() ? " and " : ", ";
    text += "'" + layers[i].node + "'";
  }
  return text;
}

Result<ClassHead> FindClassHead(const Graph& graph) {
  const std::vector<Loss> losses = LossesOf(graph);
  if (losses.empty()) {
    return Error({},
                 "the network has no loss over classes, as SoftmaxOutput and "
                 "SVMOutput are, and no layer is known to tell them apart");
  }
  MXC_RETURN_IF_ERROR(RequireSameClasses(losses));
  ClassHead head;
  head.classes = losses.front().classes;
  const Node& loss = *losses.front().node;
  if (head.classes < 1) {
    return Error(loss.loc,
                 "how many classes '{}' tells apart is not known before the "
                 "shapes of all inputs are: --input-shape",
                 loss.name);
  }
  Walk walk(head);
  for (const Loss& each : losses) walk.From(*each.scores);
  if (head.layers.empty()) {
    return Error(loss.loc,
                 "no layer with num_hidden or num_filter {} gives '{}' its {} "
                 "classes",
                 head.classes, loss.name, head.classes);
  }
  return head;
}

Status SetClasses(const ClassHead& head, int64_t classes, Graph& graph) {
  // Types that a front end has given follow anew.
  for (const auto& node : graph.nodes()) {
    if (node->kind != Node::Kind::kOperator) continue;
    std::ranges::fill(node->types, TensorType());
  }
  if (classes == head.classes) return Done{};
  for (const std::string& name : head.parameters) {
    if (Node* variable = graph.FindVariable(name)) {
      SetExtents(head.classes, classes, *variable);
    }
  }
  for (const auto& node : graph.nodes()) {
    const auto layer =
        std::ranges::find(head.layers, node->name, &ClassHead::Layer::node);
    if (layer == head.layers.end() || !WidthOf(*node)) continue;
    MXC_RETURN_IF_ERROR(SetWidth(layer->attribute, classes, *node));
  }
  return Done{};
}

Status RequireClasses(const ClassHead& head, int64_t classes,
                      const Graph& graph) {
  for (const Loss& loss : LossesOf(graph)) {
    if (loss.classes == classes) continue;
    return Error(loss.node->loc,
                 "with {} outputs of {}, '{}' tells {} classes apart: "
                 "something between them says how many",
                 classes, head.Names(), loss.node->name, loss.classes);
  }
  return Done{};
}

}  // namespace mxc
