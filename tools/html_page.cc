// SPDX-License-Identifier: Apache-2.0
#include "tools/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "runtime/base/visible.h"
#include "tools/drawing.h"
#include "tools/layered_layout.h"

namespace mxc {
namespace {

constexpr const char* kStyle = R"(
:root { --ink: #22262b; --soft: #67707c; --line: #d9dee5; }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); margin: 0;
       background: #f6f7f9; }
main { max-width: 1160px; margin: 0 auto; padding: 24px; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 0 0 10px; }
p.sub { color: var(--soft); margin: 0 0 18px; }
section { background: #fff; border: 1px solid var(--line); border-radius: 8px;
          padding: 16px 18px; margin: 0 0 18px; }
.facts { display: flex; flex-wrap: wrap; gap: 10px 34px; }
.facts b { display: block; font-size: 18px; }
.facts span { color: var(--soft); font-size: 12px; }
.scroll { overflow: auto; max-height: 720px; }
svg { display: block; } svg text { font-family: system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; }
th { text-align: left; color: var(--soft); font-weight: 600; position: sticky;
     top: 0; background: #fff; }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.bar div { background: #9dbfe6; height: 9px; border-radius: 2px; }
)";

bool LiesInArena(const BufferRow& b) {
  return b.kind == "internal" && b.offset >= 0 && b.first >= 0;
}

std::string WithEllipsis(const std::string& text, size_t longest) {
  if (text.size() <= longest) return text;
  return text.substr(0, longest - 1) + "…";
}

std::string Flops(int64_t flops) {
  if (flops >= 1'000'000'000) return fmt::format("{:.2f} GFLOP", flops * 1e-9);
  if (flops >= 1'000'000) return fmt::format("{:.1f} MFLOP", flops * 1e-6);
  return fmt::format("{} FLOP", flops);
}

void AppendFact(std::string_view name, const std::string& value,
                std::string& out) {
  out += fmt::format("<div><b>{}</b><span>{}</span></div>\n", value, name);
}

std::string Facts(const Overview& o) {
  int64_t flops = 0;
  for (const StepRow& step : o.steps) flops += step.flops;
  std::string out = "<div class=\"facts\">\n";
  AppendFact("steps", std::to_string(o.steps.size()), out);
  AppendFact("arithmetic", Flops(flops), out);
  AppendFact("weights",
             FormatBytes(o.BytesOf("weight") + o.BytesOf("prepared")), out);
  AppendFact("peak memory beside the weights", FormatBytes(o.memory.peak()),
             out);
  AppendFact("lower bound", FormatBytes(o.memory.lower_bound()), out);
  AppendFact("without sharing", FormatBytes(o.memory.naive()), out);
  return out + "</div>\n";
}

// --- the arena: steps to the right, bytes upwards

struct Chart {
  double left = 70, top = 12, width = 1020, height = 300, bottom = 34;
  double steps, bytes;
  double X(double step) const { return left + step / steps * width; }
  double Y(double at) const { return top + (1 - at / bytes) * height; }
};

void AppendGrid(const Chart& chart, const Overview& o, std::string& out) {
  for (int i = 0; i <= 4; ++i) {
    const double bytes = chart.bytes * i / 4;
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
        "stroke=\"#e3e7ec\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
        "font-size=\"10\" fill=\"#67707c\" text-anchor=\"end\">{5}</text>\n",
        chart.left, chart.left + chart.width, chart.Y(bytes), chart.left - 6,
        chart.Y(bytes) + 3, FormatBytes(static_cast<int64_t>(bytes)));
  }
  const size_t stride = std::max<size_t>(1, o.steps.size() / 16);
  for (size_t s = 0; s < o.steps.size(); s += stride) {
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\" fill=\"#67707c\" "
        "text-anchor=\"middle\">{}</text>\n",
        chart.X(static_cast<double>(s) + 0.5), chart.top + chart.height + 14,
        s);
  }
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#67707c\" "
      "text-anchor=\"middle\">step</text>\n",
      chart.left + chart.width / 2, chart.top + chart.height + 29);
}

// The sum of live bytes, which no plan can stay below.
void AppendLiveLine(const Chart& chart, const Overview& o, std::string& out) {
  std::string points;
  for (size_t s = 0; s < o.steps.size(); ++s) {
    int64_t live = 0;
    for (const BufferRow& b : o.buffers) {
      if (LiesInArena(b) && b.first <= static_cast<int>(s) &&
          static_cast<int>(s) <= b.last) {
        live += b.bytes;
      }
    }
    const double y = chart.Y(static_cast<double>(live));
    points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ",
                          chart.X(static_cast<double>(s)), y,
                          chart.X(static_cast<double>(s) + 1), y);
  }
  out += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#22262b\" "
      "stroke-width=\"1.2\" stroke-dasharray=\"3 2\"/>\n",
      points);
}

std::string MemoryChart(const Overview& o) {
  if (o.memory.arena <= 0) return "<p>Nothing lies in the arena.</p>\n";
  Chart chart;
  chart.steps = static_cast<double>(o.steps.size());
  chart.bytes = static_cast<double>(o.memory.arena);
  std::string out = fmt::format(
      "<div class=\"scroll\"><svg width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
      chart.left + chart.width + 10, chart.top + chart.height + chart.bottom);
  AppendGrid(chart, o, out);
  int color = 0;
  for (const BufferRow& b : o.buffers) {
    if (!LiesInArena(b)) continue;
    const double x = chart.X(b.first), y = chart.Y(b.offset + b.bytes);
    const double width = chart.X(b.last + 1) - x;
    const double height = chart.Y(b.offset) - y;
    out += fmt::format(
        "<g><title>{0} {1}\n{2} at +{3}, steps {4} to {5}</title><rect "
        "x=\"{6:.1f}\" y=\"{7:.1f}\" width=\"{8:.1f}\" height=\"{9:.1f}\" "
        "fill=\"{10}\" stroke=\"#fff\"/>",
        EscapeMarkup(b.name), EscapeMarkup(b.type), FormatBytes(b.bytes),
        b.offset, b.first, b.last, x, y, width, height, FillColor(color++));
    if (width > 60 && height > 13) {
      out += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\" "
          "fill=\"#22262b\">{}</text>",
          x + 4, y + 11,
          EscapeMarkup(WithEllipsis(b.name, static_cast<size_t>(width / 6))));
    }
    out += "</g>\n";
  }
  AppendLiveLine(chart, o, out);
  return out + "</svg></div>\n";
}

// --- the steps as a graph

struct Picture {
  std::vector<int> outside;  // inputs, then outputs: buffers, -1 for a step
  std::vector<LayoutEdge> edges;
  std::vector<int> edge_buffers;
  int inputs = 0, steps = 0, nodes = 0;
};

// Inputs come first, then the steps in their order, then the outputs.
Picture MakePicture(const Overview& o) {
  Picture p;
  std::map<int, int> writer;  // root buffer → node
  for (size_t b = 0; b < o.buffers.size(); ++b) {
    if (o.buffers[b].kind != "input") continue;
    writer[static_cast<int>(b)] = p.nodes++;
    p.outside.push_back(static_cast<int>(b));
  }
  p.inputs = p.nodes;
  p.steps = static_cast<int>(o.steps.size());
  for (const StepRow& step : o.steps) {
    std::vector<int> from;
    for (const int input : step.inputs) {
      const auto found = writer.find(o.buffers[input].root);
      if (found == writer.end()) continue;
      if (std::find(from.begin(), from.end(), found->second) != from.end()) {
        continue;
      }
      from.push_back(found->second);
      p.edges.push_back({found->second, p.nodes});
      p.edge_buffers.push_back(input);
    }
    for (const int output : step.outputs) {
      writer[o.buffers[output].root] = p.nodes;
    }
    ++p.nodes;
  }
  for (size_t b = 0; b < o.buffers.size(); ++b) {
    if (o.buffers[b].kind != "output") continue;
    const auto found = writer.find(static_cast<int>(b));
    if (found != writer.end()) {
      p.edges.push_back({found->second, p.nodes});
      p.edge_buffers.push_back(static_cast<int>(b));
    }
    p.outside.push_back(static_cast<int>(b));
    ++p.nodes;
  }
  return p;
}

// "1, 64, 56, 56" of "f32[1, 64, 56, 56]", with crosses.
std::string ShapeOf(const std::string& type) {
  const size_t open = type.find('[');
  std::string shape;
  for (const char c : type.substr(open + 1, type.size() - open - 2)) {
    if (c == ',') shape += "×";
    if (c != ',' && c != ' ') shape += c;
  }
  return shape;
}

void AppendEdge(const std::vector<Point>& corners, double box_height,
                std::string& out) {
  std::string path;
  for (size_t i = 0; i + 1 < corners.size(); ++i) {
    Point a = corners[i], b = corners[i + 1];
    if (i == 0) a.y += box_height / 2;
    if (i + 2 == corners.size()) b.y -= box_height / 2;
    const double bend = (b.y - a.y) / 2;
    if (i == 0) path += fmt::format("M{:.1f} {:.1f}", a.x, a.y);
    path += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x,
                        a.y + bend, b.x, b.y - bend, b.x, b.y);
  }
  out +=
      fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#9aa4b1\"/>\n", path);
}

// The shape of what a node yields, below its box.
void AppendShape(const Point& node, const std::string& type, double box_height,
                 std::string& out) {
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"9\" fill=\"#67707c\">{}"
      "</text>\n",
      node.x + 5, node.y + box_height / 2 + 11, ShapeOf(type));
}

std::string StepGraph(const Overview& o) {
  constexpr double kBoxWidth = 208, kBoxHeight = 34;
  const Picture p = MakePicture(o);
  const LayeredLayout layout = LayOut(p.nodes, p.edges, kBoxWidth + 22, 64);
  std::string out = fmt::format(
      "<div class=\"scroll\"><svg width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
      layout.width, layout.height);
  std::set<int> labelled;
  for (size_t e = 0; e < p.edges.size(); ++e) {
    AppendEdge(layout.edges[e], kBoxHeight, out);
    const int from = p.edges[e].from;
    if (!labelled.insert(from).second) continue;
    AppendShape(layout.nodes[from], o.buffers[p.edge_buffers[e]].type,
                kBoxHeight, out);
  }
  for (int n = 0; n < p.nodes; ++n) {
    const Point at = layout.nodes[n];
    const bool step = n >= p.inputs && n < p.inputs + p.steps;
    std::string name, detail, fill = "#eaf4ea", title;
    if (step) {
      const StepRow& row = o.steps[n - p.inputs];
      name = fmt::format("{}  {}", n - p.inputs, row.name);
      detail = row.kernel;
      if (row.flops > 0) detail += ", " + Flops(row.flops);
      title = row.name + "\n" + row.kernel;
      fill = row.kernel == "view"                          ? "#ffffff"
             : row.kernel.find("loops") == row.kernel.npos ? "#dbe9f8"
                                                           : "#f4efe2";
    } else {
      const BufferRow& row =
          o.buffers[p.outside[n < p.inputs ? n : n - p.steps]];
      name = row.name;
      detail = row.kind + " " + row.type;
      title = name;
    }
    out += fmt::format(
        "<g><title>{0}</title><rect x=\"{1:.1f}\" y=\"{2:.1f}\" "
        "width=\"{3}\" height=\"{4}\" rx=\"5\" fill=\"{5}\" "
        "stroke=\"#9aa4b1\"/><text x=\"{6:.1f}\" y=\"{7:.1f}\" "
        "font-size=\"11\" font-weight=\"600\" text-anchor=\"middle\">{8}</text>"
        "<text x=\"{6:.1f}\" y=\"{9:.1f}\" font-size=\"9.5\" fill=\"#67707c\" "
        "text-anchor=\"middle\">{10}</text></g>\n",
        EscapeMarkup(title), at.x - kBoxWidth / 2, at.y - kBoxHeight / 2,
        kBoxWidth, kBoxHeight, fill, at.x, at.y - 3,
        EscapeMarkup(WithEllipsis(name, 34)), at.y + 11,
        EscapeMarkup(WithEllipsis(detail, 40)));
  }
  return out + "</svg></div>\n";
}

// --- the table

std::string Table(const Overview& o) {
  int64_t most = 1;
  for (const StepRow& step : o.steps) most = std::max(most, step.flops);
  std::string out =
      "<div class=\"scroll\"><table><tr><th class=\"n\">step</th><th>name</th>"
      "<th>kernel</th><th>output</th><th class=\"n\">tasks</th>"
      "<th class=\"n\">FLOP</th><th>share of the largest</th>"
      "<th class=\"n\">bytes</th></tr>\n";
  for (size_t i = 0; i < o.steps.size(); ++i) {
    const StepRow& step = o.steps[i];
    const std::string type =
        step.outputs.empty() ? "" : o.buffers[step.outputs[0]].type;
    out += fmt::format(
        "<tr><td class=\"n\">{}</td><td title=\"{}\">{}</td><td>{}</td>"
        "<td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"bar\"><div style=\"width:{:.0f}px\"></div></td>"
        "<td class=\"n\">{}</td></tr>\n",
        i, EscapeMarkup(step.name), EscapeMarkup(WithEllipsis(step.name, 44)),
        EscapeMarkup(WithEllipsis(step.kernel, 44)), EscapeMarkup(type),
        step.tasks > 0 ? std::to_string(step.tasks) : "", Flops(step.flops),
        120.0 * static_cast<double>(step.flops) / static_cast<double>(most),
        FormatBytes(step.bytes));
  }
  return out + "</table></div>\n";
}

}  // namespace

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

std::string MakeHtmlPage(const Overview& overview) {
  const std::string title = EscapeMarkup(overview.Title());
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<title>{0}</title>\n<style>{1}</style></head>\n<body><main>\n"
      "<h1>{0}</h1>\n<p class=\"sub\">by mxc " MXC_VERSION
      "</p>\n"
      "<section>{2}</section>\n"
      "<section><h2>Memory over time</h2>\n<p class=\"sub\">Each block is a "
      "buffer: the steps during which it lives, the bytes of the arena that it "
      "takes. The dashed line is the sum of live bytes.</p>\n{3}</section>\n"
      "<section><h2>Steps</h2>\n<p class=\"sub\">Blue: a generated contraction "
      "kernel. Sand: loops. White: a view, which costs nothing.</p>\n{4}"
      "</section>\n<section><h2>Table</h2>\n{5}</section>\n"
      "</main></body>\n</html>\n",
      title, kStyle, Facts(overview), MemoryChart(overview),
      StepGraph(overview), Table(overview));
}

}  // namespace mxc
