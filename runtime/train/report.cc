// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/base/file_writer.h"
#include "runtime/train/chart.h"
#include "runtime/train/chart_json.h"
#include "runtime/train/epoch_table.h"
#include "runtime/train/run_log.h"

namespace mxc::train {
namespace {

constexpr const char* kStyle = R"(
:root { --ink: #1d2530; --soft: #64707d; --line: #e3e7ec; --paper: #fff;
  --c0: #2563c9; --c1: #d9622b; --c2: #2b9a66; --c3: #8a4fc7; --c4: #b8901f;
  --c5: #c2416f }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --soft: #98a3b0; --line: #303844; --paper: #14181e;
    --c0: #6ea2f5; --c1: #f0925f; --c2: #5fcf98; --c3: #b98bea; --c4: #dcb854;
    --c5: #ec7ba4 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 1180px; margin: 2em auto;
  padding: 0 1.2em }
h1 { font-size: 1.5em; margin-bottom: .3em }
table { border-collapse: collapse; margin-bottom: 1.2em }
td { padding: .1em 1.4em .1em 0; vertical-align: top }
td:first-child { color: var(--soft) }
.charts { display: grid; gap: 1.2em;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)) }
.chart { width: 100%; height: auto }
.chart text { font: 11px system-ui, sans-serif; fill: var(--soft) }
.chart .title { font-size: 13px; font-weight: 600; fill: var(--ink) }
.chart .x { text-anchor: middle } .chart .y { text-anchor: end }
.chart .grid { stroke: var(--line); stroke-width: 1 }
.chart polyline, .chart line { fill: none; stroke-width: 1.8;
  stroke-linejoin: round }
.chart .faint { opacity: .28; stroke-width: 1 }
.chart .other { opacity: .7; stroke-width: 1.1; stroke-dasharray: 5 3 }
.scroll { overflow-x: auto }
.epochs { margin-top: 1.2em; font-variant-numeric: tabular-nums }
.epochs th { font-weight: 600; color: var(--soft) }
summary { cursor: pointer; color: var(--soft) }
.gradients { margin: .6em 0; font-variant-numeric: tabular-nums }
.gradients th { font-weight: 600; color: var(--soft); text-align: left }
.epochs th, .epochs td { text-align: right; padding: .15em .9em .15em 0;
  white-space: nowrap }
#tip { position: absolute; padding: .3em .6em; font-size: 12px;
  background: var(--paper); border: 1px solid var(--line); border-radius: 4px;
  pointer-events: none }
#smoothing { vertical-align: middle; width: 12em }
)";

// Of curves, and of a matrix's cells, more or less of a colour.
std::string StyleOfColours() {
  std::string css;
  for (int i = 0; i < 6; ++i) {
    css += Format(".chart .c%d { stroke: var(--c%d) }\n", i, i);
  }
  for (const auto& [cells, colour] : {std::pair("right", 2), {"wrong", 1}}) {
    for (int level = 1; level <= kCellLevels; ++level) {
      css += Format(
          ".matrix td.%s%d { background: color-mix(in srgb, var(--c%d) %d%%, "
          "var(--paper)) }\n",
          cells, level, colour, 7 * level);
    }
  }
  return css;
}

// "train/loss" → chart "loss", curve "train".
using Charts = std::map<std::string, std::vector<Curve>>;

void AddCurves(const SeriesMap& series, const std::string& other_run,
               Charts& charts) {
  for (const auto& [name, points] : series) {
    if (name.starts_with(kEpochGroup) || name.starts_with(kNormGroup)) {
      continue;
    }
    const size_t slash = name.find('/');
    const bool grouped = slash != name.npos;
    const std::string chart = grouped ? name.substr(slash + 1) : name;
    const std::string own = grouped ? name.substr(0, slash) : name;
    const bool other = !other_run.empty();
    if (other && !charts.contains(chart)) continue;
    charts[chart].push_back({!other    ? own
                             : grouped ? other_run + " " + own
                                       : other_run,
                             points, other});
  }
}

Charts ChartsOf(const Report& report) {
  Charts charts;
  AddCurves(report.series, "", charts);
  for (const auto& [name, series] : report.others) {
    AddCurves(series, name, charts);
  }
  return charts;
}

// Which layers learn fast and which hardly at all.
std::string GradientTable(const Report& report) {
  if (report.gradients.empty()) return "";
  std::string table = Format(
      "<details><summary>norms of the gradients at step %lld</summary>\n"
      "<table class=\"gradients\">\n<tr><th>parameter</th><th>norm</th></tr>\n",
      static_cast<long long>(report.gradients_step));
  for (const auto& [name, norm] : report.gradients) {
    table += Format("<tr><td>%s</td><td>%.3g</td></tr>\n",
                    EscapeXml(name).c_str(), norm);
  }
  return table + "</table>\n</details>\n";
}

std::string ClassesOf(const Report& report) {
  std::string text;
  const auto add = [&](const std::optional<ValidatedClasses>& of,
                       const char* which) {
    if (!of) return;
    const std::string section = ClassSection(*of);
    if (section.empty()) return;
    text += Format("<h2>Classes in validation after epoch %lld%s</h2>\n",
                   static_cast<long long>(of->epoch), which) +
            section;
  };
  add(report.best_classes, ", the best one");
  add(report.last_classes, report.best_classes ? ", the last one" : "");
  return text;
}

}  // namespace

std::string ReportPage(const Report& report) {
  const std::string title = EscapeXml(report.title);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n";
  if (report.live) page += "<meta http-equiv=\"refresh\" content=\"5\">\n";
  page += "<title>" + title + "</title>\n<style>" + kStyle + kClassStyle +
          StyleOfColours() + "</style></head>\n<body>\n<h1>" + title +
          "</h1>\n<table>\n";
  for (const auto& [name, value] : report.settings) {
    page += "<tr><td>" + EscapeXml(name) + "</td><td>" + EscapeXml(value) +
            "</td></tr>\n";
  }
  page +=
      "</table>\n<p><label>smoothing <input id=\"smoothing\" type=\"range\" "
      "min=\"0\" max=\"0.99\" step=\"0.01\" value=\"0\"></label> "
      "<span id=\"kept\"></span></p>\n<div class=\"charts\">\n";
  Charts charts = ChartsOf(report);
  // The loss first.
  if (const auto loss = charts.find("loss"); loss != charts.end()) {
    page += DrawChart("loss", loss->second, Axis::kLogarithmic);
    charts.erase(loss);
  }
  for (const auto& [name, curves] : charts) {
    const bool norm = name == kGradientNorm;
    page += DrawChart(name, curves, norm ? Axis::kLogarithmic : Axis::kLinear);
  }
  return page + "</div>\n<div class=\"scroll\">\n" + EpochTable(report.series) +
         GradientTable(report) + "</div>\n" + ClassesOf(report) +
         "<div id=\"tip\" hidden></div>\n<script>" + kChartScript +
         kClassScript + "</script>\n</body></html>\n";
}

Status WriteReport(const std::string& path, const Report& report) {
  runtime::FileWriter file(path);
  file.Append(ReportPage(report));
  return file.Commit();
}

}  // namespace mxc::train
