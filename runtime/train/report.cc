// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/report.h"

#include <algorithm>
#include <map>

#include "runtime/base/file_writer.h"
#include "runtime/train/chart.h"

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
)";

std::string StyleOfColours() {
  std::string css;
  for (int i = 0; i < 6; ++i) {
    css += Format(".chart .c%d { stroke: var(--c%d) }\n", i, i);
  }
  return css;
}

// "train/loss" → chart "loss", curve "train".
std::map<std::string, std::vector<Curve>> ChartsOf(const SeriesMap& series) {
  std::map<std::string, std::vector<Curve>> charts;
  for (const auto& [name, points] : series) {
    const size_t slash = name.find('/');
    const bool grouped = slash != name.npos;
    charts[grouped ? name.substr(slash + 1) : name].push_back(
        {grouped ? name.substr(0, slash) : name, points});
  }
  return charts;
}

}  // namespace

std::string ReportPage(const Report& report) {
  const std::string title = EscapeXml(report.title);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      title + "</title>\n<style>" + kStyle + StyleOfColours() +
      "</style></head>\n<body>\n<h1>" + title + "</h1>\n<table>\n";
  for (const auto& [name, value] : report.facts) {
    page += "<tr><td>" + EscapeXml(name) + "</td><td>" + EscapeXml(value) +
            "</td></tr>\n";
  }
  page += "</table>\n<div class=\"charts\">\n";
  auto charts = ChartsOf(report.series);
  // The loss first.
  if (const auto loss = charts.find("loss"); loss != charts.end()) {
    page += DrawChart("loss", loss->second);
    charts.erase(loss);
  }
  for (const auto& [name, curves] : charts) page += DrawChart(name, curves);
  return page + "</div>\n</body></html>\n";
}

Status WriteReport(const std::string& path, const Report& report) {
  runtime::FileWriter file(path);
  file.Append(ReportPage(report));
  return file.Commit();
}

}  // namespace mxc::train
