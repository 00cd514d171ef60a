// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/example_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace mxc {
namespace {

constexpr int64_t kSide = 224;     // of a picture
constexpr int64_t kChannels = 3;   // of one
constexpr int64_t kSequence = 35;  // steps

// The text of an attribute; empty: it was not written.
std::string_view Written(const Node& node, std::string_view name) {
  const std::string* text = node.written.Attribute(name);
  return text == nullptr ? std::string_view() : *text;
}

// An extent of an operand, where it is known.
std::optional<int64_t> ExtentOf(const Node& node, size_t operand, int axis) {
  if (operand >= node.inputs.size()) return std::nullopt;
  const Shape& shape = node.inputs[operand].type().shape;
  if (!shape.known_rank() || axis >= shape.rank() || !shape.known(axis)) {
    return std::nullopt;
  }
  return shape[axis];
}

// How many axes a window has: "(3, 3)" has two.
int64_t WindowAxes(const Node& node) {
  std::string_view text = Written(node, "kernel");
  if (text.empty()) return 2;
  while (text.ends_with(')') || text.ends_with(' ') || text.ends_with(',')) {
    text.remove_suffix(1);
  }
  return std::clamp<int64_t>(std::ranges::count(text, ',') + 1, 1, 3);
}

// 1 where it is not written, or makes no sense.
int64_t Groups(const Node& node) {
  const std::string_view text = Written(node, "num_group");
  int64_t groups = 1;
  std::from_chars(text.data(), text.data() + text.size(), groups);
  return std::clamp<int64_t>(groups, 1, 1 << 20);
}

Extents ShapeForConvolution(const Node& node) {
  const auto part = ExtentOf(node, 1, 1);
  Extents shape = {1, part ? *part * Groups(node) : kChannels};
  shape.resize(shape.size() + static_cast<size_t>(WindowAxes(node)), kSide);
  return shape;
}

// What a layer takes; nothing where it says nothing of its data's shape.
std::optional<Extents> ShapeFor(const Node& node) {
  if (node.op_name == "Convolution") return ShapeForConvolution(node);
  if (node.op_name == "FullyConnected") {
    if (const auto width = ExtentOf(node, 1, 1)) return Extents{1, *width};
  }
  if (node.op_name == "Embedding") return Extents{1, kSequence};
  if (node.op_name == "BatchNorm") {
    if (const auto channels = ExtentOf(node, 1, 0)) {
      return Extents{1, *channels, kSide, kSide};
    }
  }
  return std::nullopt;
}

// The first layer behind the input that tells, past operators that keep the
// shape of what they read.
std::optional<Extents> ShapeBehind(const Graph& graph, const Node& input) {
  std::vector<const Node*> reached = {&input};
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind != Node::Kind::kOperator || node->inputs.empty()) continue;
    if (std::ranges::count(reached, node->inputs[0].node) == 0) continue;
    if (auto shape = ShapeFor(*node)) return shape;
    if (node->op_name == "Flatten" || node->op_name == "Reshape") continue;
    reached.push_back(node);
  }
  return std::nullopt;
}

}  // namespace

std::string ExampleShape(const Graph& graph, const Node& input) {
  if (input.name.ends_with("label")) return "1";
  const Extents shape =
      ShapeBehind(graph, input).value_or(Extents{1, kChannels, kSide, kSide});
  return fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace mxc
