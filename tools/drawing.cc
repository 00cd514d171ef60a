// SPDX-License-Identifier: Apache-2.0
#include "tools/drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "runtime/base/visible.h"
#include "tools/drawing_columns.h"
#include "tools/html_page.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

// Attributes that say something: those that differ from their defaults.
std::string AttributeText(const Node& node) {
  if (node.kind != Node::Kind::kOperator) return "";
  std::map<std::string, std::string> defaults;
  struct Collect : Fields {
    explicit Collect(std::map<std::string, std::string>& out) : out(out) {}
    void Visit(Field& field) override {
      if (!field.required) out[std::string(field.name)] = PrintField(field);
      if (field.hint) hints.insert(std::string(field.name));
    }
    std::map<std::string, std::string>& out;
    std::set<std::string> hints;
  } collect(defaults);
  node.op->describe(collect);
  std::string text;
  for (const auto& [name, value] : node.op->print(node.attrs.get())) {
    const auto known = defaults.find(name);
    if (known != defaults.end() && known->second == value) continue;
    if (collect.hints.contains(name) || name == "num_args") continue;
    text += (text.empty() ? "" : ", ") + name + " " + value;
  }
  constexpr size_t kLongest = 72;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

// In DOT's quotes a backslash escapes a quote or itself.
std::string QuotedId(std::string_view name) {
  std::string out = "\"";
  for (const char c : runtime::Visible(name)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Graphviz has no labels of nothing.
std::string LabelText(std::string_view text) {
  return text.empty() ? " " : EscapeMarkup(text);
}

bool IsWeight(const Node& node) {
  return node.kind == Node::Kind::kConstant ||
         (node.kind == Node::Kind::kVariable &&
          node.role != VariableRole::kInput);
}

// A range of an arena, named by where it begins.
struct ArenaRange {
  int color = 0;
  int64_t bytes = 0;  // of the largest value that begins there
};

class DotWriter {
 public:
  DotWriter(const Graph& graph, const Program* program)
      : graph_(graph), program_(program), order_(graph.TopologicalOrder()) {
    if (program_) {
      AssignSteps();
      AssignRanges();
    }
    std::vector<const Node*> drawn;
    for (const Node* node : order_) {
      if (!IsWeight(*node)) drawn.push_back(node);
    }
    column_ = ColumnsOf(drawn, members_);
  }

  std::string Write() {
    Head();
    WriteClusters();
    for (const Node* node : order_) {
      if (IsWeight(*node) || step_of_.contains(node)) continue;
      WriteNode(*node, "  ");
    }
    WriteOutputs();
    WriteEdges();
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  static constexpr int kLegendColumns = 6;

  void AssignSteps() {
    std::map<std::string, int> by_name;
    for (size_t s = 0; s < program_->steps.size(); ++s) {
      for (const std::string& origin : program_->steps[s].origins) {
        by_name.try_emplace(origin, static_cast<int>(s));
      }
    }
    for (const Node* node : order_) {
      if (node->kind != Node::Kind::kOperator) continue;
      const auto step = by_name.find(node->name);
      if (step == by_name.end()) continue;
      step_of_[node] = step->second;
      members_[step->second].push_back(node);
    }
  }

  void Head() {
    out_ = fmt::format(
        "digraph {} {{\n"
        "  rankdir=TB; nodesep=0.25; ranksep=0.24; splines=true;\n"
        "  fontname=\"Helvetica\"; labelloc=t; fontsize=18; label=<{}>;\n"
        "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", "
        "color=\"#555555\", fontname=\"Helvetica\", fontsize=11, "
        "margin=\"0.1,0.03\"];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\", "
        "fontcolor=\"#444444\", arrowsize=0.6];\n",
        QuotedId(graph_.name), Title());
  }

  // The name, what the plan needs, and what the colours mean.
  std::string Title() const {
    std::string title = fmt::format(
        "<TABLE BORDER=\"0\" CELLSPACING=\"3\"><TR><TD COLSPAN=\"{}\">{}</TD>"
        "</TR>",
        2 * kLegendColumns, LabelText(graph_.name));
    if (program_) {
      title += fmt::format(
          "<TR><TD COLSPAN=\"{}\"><FONT POINT-SIZE=\"11\">{} in {}; dashed "
          "values are never stored; colours are places in the arena:</FONT>"
          "</TD></TR>",
          2 * kLegendColumns, Count(std::ssize(program_->steps), "step"),
          FormatBytes(program_->arena_bytes + program_->host_arena_bytes));
      title += Legend();
    }
    return title + "</TABLE>";
  }

  std::string Legend() const {
    std::string rows;
    int column = 0;
    for (const auto& [begin, range] : ranges_) {
      if (column == 0) rows += "<TR>";
      rows += fmt::format(
          "<TD BGCOLOR=\"{}\" WIDTH=\"20\"> </TD><TD ALIGN=\"LEFT\"><FONT "
          "POINT-SIZE=\"9\">{}+{}, {}</FONT></TD>",
          FillColor(range.color), begin.first == Place::kHost ? "host " : "",
          begin.second, FormatBytes(range.bytes));
      column = (column + 1) % kLegendColumns;
      if (column == 0) rows += "</TR>";
    }
    return column == 0 ? rows : rows + "</TR>";
  }

  void WriteClusters() {
    for (const auto& [number, nodes] : members_) {
      const Step& step = program_->steps[number];
      const std::string name = std::to_string(number);
      const TileLoop* loop = step.loop();
      if (loop == nullptr) {
        WriteStep(name, step, nodes, "  ");
        continue;
      }
      OpenFrame(name,
                fmt::format("step {}, in {}", name, Count(loop->tiles, "tile")),
                "  ");
      std::set<std::string> drawn;  // a node may be part of several steps
      for (size_t i = 0; i < loop->tile->steps.size(); ++i) {
        const Step& inner = loop->tile->steps[i];
        std::vector<const Node*> its;
        for (const Node* node : nodes) {
          if (std::ranges::count(inner.origins, node->name) > 0 &&
              drawn.insert(node->name).second) {
            its.push_back(node);
          }
        }
        WriteStep(fmt::format("{}_{}", name, i), inner, its, "    ");
      }
      out_ += "  }\n";
    }
  }

  // Only a step of several operators needs a frame.
  void WriteStep(const std::string& name, const Step& step,
                 const std::vector<const Node*>& nodes,
                 const std::string& indent) {
    if (nodes.size() < 2) {
      for (const Node* node : nodes) WriteNode(*node, indent);
      return;
    }
    std::string number = name;
    std::ranges::replace(number, '_', '.');
    OpenFrame(name, "step " + number + KernelText(step), indent);
    for (const Node* node : nodes) WriteNode(*node, indent + "  ");
    out_ += indent + "}\n";
  }

  void OpenFrame(const std::string& name, const std::string& label,
                 const std::string& indent) {
    out_ += fmt::format(
        "{0}subgraph cluster_{1} {{\n"
        "{0}  style=\"rounded,filled\"; color=\"#b8bfc8\"; "
        "fillcolor=\"#f1f3f6\"; fontsize=9; fontcolor=\"#667080\"; "
        "labeljust=l; margin=8; label=\"{2}\";\n",
        indent, name, label);
  }

  static std::string KernelText(const Step& step) {
    const ContractionStep* contraction = step.contraction();
    if (!contraction || contraction->choice.algorithm.empty()) return "";
    return fmt::format(", {} {}c", contraction->choice.algorithm,
                       contraction->choice.block);
  }

  std::string Label(const Node& node) const {
    const std::string op = node.kind == Node::Kind::kOperator ? node.op->name
                           : node.kind == Node::Kind::kOpaque ? node.op_name
                                                              : "input";
    std::string label = fmt::format(
        "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
        "CELLPADDING=\"1\"><TR><TD><B>{}</B>  {}</TD></TR>",
        LabelText(op), LabelText(node.name));
    const std::string attributes = AttributeText(node);
    if (!attributes.empty()) Small(attributes, "#444444", label);
    std::vector<std::string> weights;
    for (const Value& input : node.inputs) {
      if (!IsWeight(*input.node) || !input.type().shape.known()) continue;
      if (input.shape().rank() >= 2) {
        weights.push_back(ShapeText(input.shape()));
      }
    }
    if (!weights.empty()) {
      Small(fmt::format("weight {}", fmt::join(weights, ", ")), "#7a6a3a",
            label);
    }
    if (node.kind == Node::Kind::kOpaque) Small("unknown", "#b00020", label);
    return label + "</TABLE>";
  }

  static void Small(std::string_view text, std::string_view color,
                    std::string& label) {
    label += fmt::format(
        "<TR><TD><FONT POINT-SIZE=\"9\" COLOR=\"{}\">{}</FONT></TD></TR>",
        color, LabelText(text));
  }

  // Where in its arena a node's value goes to, or nowhere.
  const ArenaRange* RangeOf(const Node& node) const {
    const auto step = step_of_.find(&node);
    if (step == step_of_.end()) return nullptr;
    if (members_.at(step->second).back() != &node) return nullptr;
    const int buffer = program_->steps[step->second].outputs[0];
    const Buffer& root = program_->buffers[program_->Root(buffer)];
    const auto range = ranges_.find({root.place, root.offset});
    const bool internal = root.kind == BufferKind::kInternal;
    return internal && range != ranges_.end() ? &range->second : nullptr;
  }

  // Colours by first use, so that neighbours in the picture differ.
  void AssignRanges() {
    for (const Step& step : program_->steps) {
      for (const int output : step.outputs) {
        const Buffer& root = program_->buffers[program_->Root(output)];
        if (root.kind != BufferKind::kInternal || root.offset < 0) continue;
        const ArenaRange next = {static_cast<int>(ranges_.size()), 0};
        const std::pair begin(root.place, root.offset);
        ArenaRange& range = ranges_.try_emplace(begin, next).first->second;
        range.bytes = std::max(range.bytes, root.bytes());
      }
    }
  }

  void WriteNode(const Node& node, std::string_view indent) {
    const ArenaRange* range = program_ ? RangeOf(node) : nullptr;
    std::string style;
    if (node.kind == Node::Kind::kVariable) {
      style = ", shape=ellipse, fillcolor=\"#dff3df\"";
    } else if (node.kind == Node::Kind::kOpaque) {
      style = ", fillcolor=\"#ffd6d6\", color=\"#b00020\"";
    } else if (range) {
      style = fmt::format(", fillcolor=\"{}\"", FillColor(range->color));
    }
    out_ += fmt::format("{}n{} [label=<{}>{}];\n", indent, node.id(),
                        Label(node), style);
  }

  void WriteOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string name = i < graph_.output_names.size()
                                   ? graph_.output_names[i]
                                   : fmt::format("output {}", i);
      out_ += fmt::format(
          "  out{} [label=<{}>, shape=ellipse, fillcolor=\"#ffe9c7\"];\n", i,
          LabelText(name));
    }
  }

  static std::string ValueText(const Value& value) {
    const auto index = static_cast<size_t>(value.index);
    const bool known =
        index < value.node->types.size() && value.type().shape.known();
    return known ? ShapeText(value.shape()) : "?";
  }

  void WriteArrow(const std::string& from, const std::string& to,
                  std::string_view style) {
    out_ += fmt::format("  {} -> {} [{}];\n", from, to, style);
  }

  // An edge to another column is cut: it ends in a letter, with which it goes
  // on there.
  void WriteEdge(const Value& from, const std::string& to, int column,
                 bool within_step) {
    const std::string name = fmt::format("n{}", from.node->id());
    const std::string label = fmt::format("label=\" {}\"", ValueText(from));
    if (column_.at(from.node) == column) {
      WriteArrow(name, to,
                 within_step ? "style=dashed, color=\"#aaaaaa\"" : label);
      return;
    }
    const auto [letter, is_new] = letters_.try_emplace(
        name + std::to_string(from.index), static_cast<int>(letters_.size()));
    const std::string end = fmt::format("end{}", letter->second);
    const std::string start = fmt::format("start{}_{}", letter->second, column);
    if (is_new) {
      WriteLetter(end, letter->second);
      WriteArrow(name, end, label);
    }
    if (starts_.insert(start).second) WriteLetter(start, letter->second);
    WriteArrow(start, to, label);
  }

  void WriteLetter(const std::string& node, int letter) {
    std::string text(1, static_cast<char>('A' + letter % 26));
    if (letter >= 26) text += std::to_string(letter / 26);
    out_ += fmt::format(
        "  {} [label=\"{}\", shape=circle, width=0.3, fixedsize=true, "
        "fontsize=10, fillcolor=\"#fff3b0\"];\n",
        node, text);
  }

  // An edge within a step is a value that is never stored.
  void WriteEdges() {
    for (const Node* node : order_) {
      for (const Value& input : node->inputs) {
        if (IsWeight(*input.node)) continue;
        const auto a = step_of_.find(input.node), b = step_of_.find(node);
        const bool within = a != step_of_.end() && b != step_of_.end() &&
                            a->second == b->second;
        WriteEdge(input, fmt::format("n{}", node->id()), column_.at(node),
                  within);
      }
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Value& value = graph_.outputs[i];
      if (IsWeight(*value.node)) continue;
      WriteEdge(value, fmt::format("out{}", i), column_.at(value.node), false);
    }
  }

  const Graph& graph_;
  const Program* program_;
  std::vector<Node*> order_;
  std::map<const Node*, int> step_of_;  // looked up only, never iterated
  std::map<int, std::vector<const Node*>> members_;
  // By where they begin.
  std::map<std::pair<Place, int64_t>, ArenaRange> ranges_;
  std::map<const Node*, int> column_;   // looked up only, never iterated
  std::map<std::string, int> letters_;  // by value
  std::set<std::string> starts_;
  std::string out_;
};

}  // namespace

std::string DrawDot(const Graph& graph, const Program* program) {
  return DotWriter(graph, program).Write();
}

std::string FillColor(int n) {
  static constexpr auto kColors = std::to_array<const char*>(
      {"#bcd9f2", "#f7cfa8", "#c5e6bf", "#f2bdc4", "#d6cbee", "#f3e6a1",
       "#b9e4e0", "#e8c9dd", "#d5dbb0", "#c9d0dc", "#f5c6f0", "#cfe9f9"});
  return kColors[static_cast<size_t>(n) % kColors.size()];
}

std::string ShapeText(const Shape& shape) {
  if (shape.rank() == 0) return "scalar";
  return fmt::format("{}", fmt::join(shape.dims(), "x"));
}

}  // namespace mxc
