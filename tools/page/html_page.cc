// SPDX-License-Identifier: Apache-2.0
#include "tools/page/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tools/diagram/diagram_json.h"
#include "tools/diagram/graphviz.h"
#include "tools/page/assets.h"
#include "tools/page/communication_chart.h"
#include "tools/page/memory_chart.h"
#include "tools/page/statistics_table.h"

namespace mxc {
namespace {

void AppendFact(std::string_view name, const std::string& value,
                std::string& out) {
  out += fmt::format("<div><b>{}</b><span>{}</span></div>\n", value, name);
}

std::string Facts(const Overview& o) {
  std::string out = "<div class=\"facts\">\n";
  AppendFact("steps", std::to_string(o.steps.size()), out);
  AppendFact("arithmetic", FormatFlops(o.flops()), out);
  const bool trains = o.state_bytes() > 0;
  const int64_t weights = o.BytesOf("weight") + o.BytesOf("prepared");
  if (trains) {
    AppendFact("parameters and other states", FormatBytes(o.state_bytes()),
               out);
  }
  if (weights > 0 || !trains) AppendFact("weights", FormatBytes(weights), out);
  AppendFact(
      trains ? "peak memory beside them" : "peak memory beside the weights",
      FormatBytes(o.memory.peak()), out);
  AppendFact("lower bound", FormatBytes(o.memory.lower_bound()), out);
  AppendFact("without sharing", FormatBytes(o.memory.naive()), out);
  return out + "</div>\n";
}

// --- the table

// What both begin with: whole words, each ended by one of these characters.
std::string_view SharedWords(std::string_view a, std::string_view b) {
  const auto end = std::ranges::mismatch(a, b).in1;
  const std::string_view shared(a.begin(), end);
  return shared.substr(0, shared.find_last_of("_/.-") + 1);
}

std::string CommonPrefix(const std::vector<std::string>& names) {
  std::string prefix = names.size() > 1 ? names[0] : "";
  for (const std::string& name : names) prefix = SharedWords(prefix, name);
  return prefix;
}

// Of a step of several nodes: "block0_attention_query + …scale" for
// "block0_attention_query+block0_attention_scale".
std::string WithoutRepeatedWords(std::string_view title) {
  constexpr size_t kWorthIt = 4;
  std::string text;
  std::string_view before;
  for (const std::string_view part : PartsOf(title)) {
    const size_t shared = SharedWords(before, part).size();
    if (!text.empty()) text += " + ";
    text += shared < kWorthIt ? std::string(part)
                              : "…" + std::string(part.substr(shared));
    before = part;
  }
  return text;
}

std::string Table(const Overview& o) {
  int64_t most = 1;
  for (const StepRow& step : o.steps) most = std::max(most, step.flops);
  const bool dealt = std::ranges::any_of(
      o.steps, [](const StepRow& step) { return step.tasks > 0; });
  const std::vector<std::string> titles = StepTitles(o);
  const std::string prefix = CommonPrefix(titles);
  std::string out = prefix.empty()
                        ? ""
                        : fmt::format(
                              "<p class=\"sub\">All names begin with "
                              "{}.</p>\n",
                              EscapeMarkup(prefix));
  out += fmt::format(
      "<div class=\"scroll\"><table><tr><th class=\"n\">step</th><th>name</th>"
      "<th>kernel</th><th>output</th>{}"
      "<th class=\"n\">arithmetic</th><th>share of the largest</th>"
      "<th class=\"n\">bytes</th></tr>\n",
      dealt ? "<th class=\"n\">tasks</th>" : "");
  for (size_t i = 0; i < o.steps.size(); ++i) {
    const StepRow& step = o.steps[i];
    const std::string type =
        step.outputs.empty() ? "" : o.buffers[step.outputs[0]].type;
    const std::string tasks = step.tasks > 0 ? std::to_string(step.tasks) : "";
    out += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"name\" title=\"{}\">{}</td>"
        "<td>{}</td>"
        "<td>{}</td>{}<td class=\"n\">{}</td>"
        "<td class=\"bar\"><div style=\"width:{:.0f}px\"></div></td>"
        "<td class=\"n\">{}</td></tr>\n",
        i, EscapeMarkup(titles[i]),
        EscapeMarkup(WithoutRepeatedWords(titles[i].substr(prefix.size()))),
        EscapeMarkup(step.algorithm), EscapeMarkup(type),
        dealt ? "<td class=\"n\">" + tasks + "</td>" : "",
        step.flops > 0 ? FormatFlops(step.flops) : "",
        120.0 * static_cast<double>(step.flops) / static_cast<double>(most),
        FormatBytes(step.bytes));
  }
  return out + "</table></div>\n";
}

// --- the picture, which the script draws

std::string Swatch(std::string_view kind, std::string_view means) {
  return fmt::format("<i class=\"swatch {}\"></i>{}", kind, means);
}

std::string Legend(bool trains) {
  if (trains) {
    return Swatch("forward", "forward, runs down") +
           Swatch("backward", "backward, runs up") + Swatch("update", "update");
  }
  return Swatch(
             "contraction",
             "contraction (<i>n</i>c: values in blocks of <i>n</i> channels)") +
         Swatch("loops", "loops") + Swatch("view", "view, costs nothing") +
         Swatch("block", "folded block");
}

std::string Picture(const Overview& overview, const Diagram& diagram) {
  return fmt::format(
      "<div class=\"bar-of-tools\"><input id=\"search\" type=\"search\" "
      "placeholder=\"find a step, then Enter\"><span id=\"found\"></span>"
      "<button id=\"fold\">fold all</button><button id=\"unfold\">unfold all"
      "</button><button id=\"order\">order of execution</button>"
      "<button id=\"fit\">fit</button><button id=\"in\">+</button>"
      "<button id=\"out\">−</button><span>{}</span></div>\n"
      "<svg id=\"picture\"><defs><marker id=\"head\" viewBox=\"0 0 8 8\" "
      "refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto-start-reverse\"><path d=\"M0 1 L8 4 L0 7 z\" "
      "fill=\"#7d8896\"/></marker></defs></svg><div id=\"tip\" hidden></div>\n"
      "<noscript><p>The picture needs the page's own script; the table below "
      "does not.</p></noscript>\n"
      "<script type=\"application/json\" id=\"diagram\">{}</script>\n",
      Legend(diagram.trains), DiagramJson(diagram, overview));
}

// Of an entry whose gradients workers of a job exchange.
std::string Communication(const Overview& overview) {
  if (overview.exchanges.empty()) return "";
  return "<section><h2>Communication</h2>\n<p class=\"sub\">Two steps of a "
         "worker, one after the other. Each bar is a parameter: its gradient "
         "leaves where the bar begins, in the first step, and its new value is "
         "needed where the bar ends, in the second. Darker ones are more "
         "urgent.</p>\n" +
         CommunicationChart(overview) + "</section>\n";
}

std::string Weights(const std::vector<TensorStatistics>& weights) {
  if (weights.empty()) return "";
  return "<section><h2>Weights</h2>\n<p class=\"sub\">Their values as they lie "
         "in the file. Each drawing shows how many of them are how large, from "
         "the least to the most.</p>\n" +
         StatisticsTable(weights) + "</section>\n";
}

}  // namespace

std::string MakeHtmlPage(const Overview& overview, const Diagram& diagram,
                         const std::vector<TensorStatistics>& weights) {
  const std::string title = EscapeMarkup(overview.Title());
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<title>{0}</title>\n<style>{1}</style></head>\n<body><main>\n"
      "<h1>{0}</h1>\n<p class=\"sub\">by mxc " MXC_VERSION
      "</p>\n"
      "<section>{2}</section>\n"
      "<section class=\"wide\"><h2>Steps</h2>\n<p class=\"sub\">Click a block "
      "to unfold or fold it; the wheel zooms, dragging pans, hovering tells "
      "what a step or an arrow is.</p>\n{4}</section>\n"
      "<section><h2>Memory over time</h2>\n<p class=\"sub\">Each block is a "
      "buffer: the steps during which it lives, the bytes of the arena that it "
      "takes. The dashed line is the sum of live bytes.</p>\n{3}</section>\n"
      "{10}<section><h2>Table</h2>\n{5}</section>\n"
      "{11}</main>\n<script>{12}{6}</script>\n<script>(function () {{\n"
      "'use strict';\n{7}{8}{9}}})();</script></body>\n</html>\n",
      title, Asset_page(), Facts(overview), MemoryChart(overview),
      Picture(overview, diagram), Table(overview), Asset_dagre(),
      Asset_diagram_facts(), Asset_diagram_layout(), Asset_diagram(),
      Communication(overview), Weights(weights), Asset_dagre_licence());
}

}  // namespace mxc
