// SPDX-License-Identifier: Apache-2.0
#include "tools/diagram/graphviz.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/visible.h"
#include "tools/overview.h"

namespace mxc {
namespace {

using Kind = DiagramBox::Kind;

constexpr size_t kMostOperators = 6;  // in one box
constexpr size_t kLongestName = 44;
constexpr std::string_view kWhite = "#ffffff";

constexpr const char* kHead =
    "  rankdir=TB; nodesep=0.22; ranksep=0.22; splines=true; newrank=true;\n"
    "  fontname=\"Helvetica\"; labelloc=t; fontsize=16;\n"
    "  node [shape=box, style=\"rounded,filled\", color=\"#555555\", "
    "fontname=\"Helvetica\", fontsize=11, margin=\"0.08,0.04\"];\n"
    "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\", "
    "fontcolor=\"#444444\", arrowsize=0.6];\n";

// In DOT's quotes a backslash escapes a quote or itself.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : runtime::Visible(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Graphviz has no labels of nothing.
std::string LabelText(std::string_view text) {
  return text.empty() ? " " : EscapeMarkup(text);
}

const char* FillOf(const DiagramBox& box, bool trains) {
  if (box.kind == Kind::kInput) return "#dff3df";
  if (box.kind == Kind::kOutput) return "#ffe9c7";
  if (box.kind == Kind::kUnknown) return "#ffd6d6";
  if (trains && box.phase == Phase::kBackward) return "#f9d9c2";
  if (trains && box.phase == Phase::kUpdate) return "#d5ead0";
  if (trains || box.kind == Kind::kContraction) return "#d3e4f6";
  if (box.kind == Kind::kBlock) return "#e6e9f4";
  return box.kind == Kind::kView ? "#ffffff" : "#f4efe2";
}

class GraphvizWriter {
 public:
  explicit GraphvizWriter(const Diagram& view)
      : view_(view),
        readers_(view.boxes.size()),
        shared_(view.boxes.size(), -1) {
    for (const DiagramArrow& arrow : view.arrows) ++readers_[arrow.from];
    for (const DiagramArrow& arrow : view.arrows) {
      if (!IsShared(arrow.from) || shared_[arrow.to] >= 0) continue;
      shared_[arrow.to] = arrow.from;
    }
    for (size_t g = 0; g < view.groups.size(); ++g) {
      groups_in_[view.groups[g].parent].push_back(g);
    }
    for (size_t b = 0; b < view.boxes.size(); ++b) {
      boxes_in_[view.boxes[b].group].push_back(b);
    }
  }

  std::string Write() {
    out_ = fmt::format("digraph {} {{\n{}  label=<{}>;\n", Quoted(view_.name),
                       kHead, Title());
    WriteGroup(-1, "  ");
    for (const DiagramArrow& arrow : view_.arrows) WriteArrow(arrow);
    if (view_.trains) StackUpdates();
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  std::string Title() const {
    std::string title = fmt::format(
        "<TABLE BORDER=\"0\" CELLSPACING=\"3\"><TR><TD COLSPAN=\"8\"><B>{}</B>"
        "</TD></TR><TR><TD COLSPAN=\"8\"><FONT POINT-SIZE=\"11\">{}</FONT>"
        "</TD></TR><TR>",
        LabelText(view_.name), LabelText(view_.facts));
    const auto entry = [&](std::string_view color, std::string_view text) {
      // White would not be seen.
      const bool white = color == kWhite;
      title += fmt::format(
          "<TD BGCOLOR=\"{}\" WIDTH=\"18\"{}> </TD><TD ALIGN=\"LEFT\"><FONT "
          "POINT-SIZE=\"9\">{}</FONT></TD>",
          color, white ? " BORDER=\"1\"" : "", text);
    };
    const bool blocks =
        std::ranges::count(view_.boxes, Kind::kBlock, &DiagramBox::kind) > 0;
    if (view_.trains) {
      entry("#d3e4f6", "forward, runs down");
      entry("#f9d9c2", "backward, runs up");
      entry("#d5ead0", "update, by the parameter");
      title +=
          "<TD ALIGN=\"LEFT\"><FONT POINT-SIZE=\"9\">- - - a value of "
          "forward that backward reads</FONT></TD>";
    } else {
      entry("#d3e4f6",
            "contraction; <I>n</I>c: values in blocks of <I>n</I> channels");
      entry("#f4efe2", "loops");
      entry(kWhite, "view, costs nothing");
      if (blocks) entry("#e6e9f4", "folded block");
    }
    if (view_.trains && blocks) entry("#eeeeee", "double: a folded block");
    return title + "</TR></TABLE>";
  }

  // Inputs and outputs are outside every group.
  void WriteGroup(int group, const std::string& indent) {
    for (const size_t g : groups_in_[group]) {
      const DiagramGroup& inner = view_.groups[g];
      if (inner.folded) continue;
      out_ += fmt::format(
          "{0}subgraph cluster_{1} {{\n"
          "{0}  style=\"rounded,filled\"; color=\"#b8bfc8\"; "
          "fillcolor=\"{2}\"; fontsize=10; fontcolor=\"#556070\"; "
          "labeljust=l; margin=7; label={3};\n",
          indent, g, inner.is_phase ? "#fafbfc" : "#f1f3f6",
          Quoted(inner.title));
      WriteGroup(static_cast<int>(g), indent + "  ");
      out_ += indent + "}\n";
    }
    for (const size_t b : boxes_in_[group]) WriteBox(b, indent);
  }

  void WriteBox(size_t number, const std::string& indent) {
    const DiagramBox& box = view_.boxes[number];
    const bool outside = box.kind == Kind::kInput || box.kind == Kind::kOutput;
    const char* shape = outside ? ", shape=ellipse" : "";
    const bool block = box.kind == Kind::kBlock;
    const int shared = shared_[number];
    out_ += fmt::format(
        "{}n{} [label=<{}>, fillcolor=\"{}\"{}{}{}, tooltip={}];\n", indent,
        number, Label(box), FillOf(box, view_.trains), shape,
        block ? ", peripheries=2" : "",
        shared < 0 ? "" : fmt::format(", group=n{}", shared), Quoted(box.name));
  }

  static void Row(std::string_view text, std::string_view style,
                  std::string& label) {
    label += fmt::format("<TR><TD><FONT {}>{}</FONT></TD></TR>", style,
                         LabelText(text));
  }

  static std::string Label(const DiagramBox& box) {
    std::string label =
        "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
        "CELLPADDING=\"1\">";
    const auto name = [&](std::string_view text) {
      label += fmt::format("<TR><TD><B>{}</B></TD></TR>",
                           LabelText(Shorten(std::string(text), kLongestName)));
    };
    size_t shown = 0;
    for (const auto& [title, told] : box.operators) {
      if (shown == kMostOperators) {
        Row(fmt::format("and {} more", box.operators.size() - shown),
            "POINT-SIZE=\"9\"", label);
        break;
      }
      ++shown;
      name(title);
      if (!told.empty()) Row(told, "POINT-SIZE=\"9\" COLOR=\"#444444\"", label);
    }
    if (box.operators.empty()) name(box.short_name);
    const bool numbered = box.step >= 0 && box.kind != Kind::kBlock;
    const std::string detail =
        numbered ? fmt::format("step {}, {}", box.step, box.detail)
                 : box.detail;
    if (!detail.empty()) {
      Row(detail, "POINT-SIZE=\"9\" COLOR=\"#7a6a3a\"", label);
    }
    return label + "</TABLE>";
  }

  // Below each other; the arrows into them are left out, for their names say
  // which gradient they use.
  void StackUpdates() {
    int above = -1;
    for (size_t b = 0; b < view_.boxes.size(); ++b) {
      if (view_.boxes[b].phase != Phase::kUpdate) continue;
      if (above >= 0) {
        out_ += fmt::format("  n{} -> n{} [style=invis];\n", above, b);
      }
      above = static_cast<int>(b);
    }
  }

  void WriteArrow(const DiagramArrow& arrow) {
    if (view_.boxes[arrow.to].phase == Phase::kUpdate) return;
    const Phase from = view_.boxes[arrow.from].phase;
    const Phase to = view_.boxes[arrow.to].phase;
    // Values of the forward phase, kept or computed again, do not go the
    // gradients' way.
    const bool value = view_.trains && (from != to || arrow.again);
    const bool up = from == Phase::kBackward && to == Phase::kBackward &&
                    view_.trains && !arrow.again;
    out_ += fmt::format(
        "  n{} -> n{} [label={}{}{}{}{}];\n", up ? arrow.to : arrow.from,
        up ? arrow.from : arrow.to,
        Quoted(arrow.shape.empty() || value ? "" : " " + arrow.shape),
        up ? ", dir=back" : "",
        value ? ", style=dashed, color=\"#9aa4b1\"" : "",
        arrow.again ? ", constraint=false" : "",
        IsShared(arrow.from) ? ", weight=0" : "");
  }

  // What many boxes read, such as a mask, does not bend the chain that they are.
  bool IsShared(int box) const {
    constexpr int kMostReadersOfChain = 3;
    return readers_[box] > kMostReadersOfChain;
  }

  const Diagram& view_;
  std::vector<int> readers_;  // of each box
  std::vector<int> shared_;  // that each box reads, the first of them; -1: none
  std::map<int, std::vector<size_t>> groups_in_, boxes_in_;  // -1: outside
  std::string out_;
};

}  // namespace

std::string GraphvizText(const Diagram& diagram) {
  return GraphvizWriter(Folded(diagram)).Write();
}

std::string EscapeMarkup(std::string_view text) {
  std::string out;
  for (const char c : runtime::Visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace mxc
