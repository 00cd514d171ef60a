// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/search_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "runtime/train/chart.h"

namespace mxc {
namespace {

using train::EscapeXml;
using train::ShortNumber;

constexpr double kWidth = 360, kHeight = 240;
constexpr double kLeft = 56, kRight = 12, kTop = 30, kBottom = 34;

constexpr std::string_view kStyle = R"(
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1160px;
padding:0 1em;color:#1c2733;background:#fff}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}
svg{max-width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#5a6775}
svg .title{font-size:13px;fill:#1c2733}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(330px,1fr));gap:12px}
.frame{fill:none;stroke:#c9d1d9}.dot{fill:#2f6fba;fill-opacity:.55}
.pruned{fill:#9aa7b4}.best{fill:#d1452b;fill-opacity:1}
.line{fill:none;stroke:#2f6fba;stroke-opacity:.35}.bestline{stroke:#d1452b;
stroke-opacity:1;stroke-width:2}
table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:right;
border-bottom:1px solid #e3e8ed}th{font-weight:600}td:last-child,th:last-child{text-align:left}
tr.chosen{background:#fdeeea}
@media(prefers-color-scheme:dark){body{color:#dfe6ee;background:#14191f}
svg text{fill:#9fb0c0}svg .title{fill:#dfe6ee}.frame{stroke:#3a4653}
td,th{border-color:#2a333d}tr.chosen{background:#4a2a22}}
)";

// An axis: numbers, perhaps by their logarithms.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;

  double At(double value) const {
    if (logarithmic) return std::log(value / low) / std::log(high / low);
    return high > low ? (value - low) / (high - low) : 0.5;
  }
};

class Picture {
 public:
  Picture(const std::string& title, Axis x, Axis y) : x_(x), y_(y) {
    svg_ = fmt::format(
        R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)"
        R"(<text class="title" x="{}" y="18">{}</text>)"
        R"(<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>)",
        kWidth, kHeight, EscapeXml(title), kLeft, EscapeXml(title), kLeft, kTop,
        kWidth - kLeft - kRight, kHeight - kTop - kBottom);
    for (const double end : {y_.low, y_.high}) {
      Label(kLeft - 6, Y(end) + 4, "end", ShortNumber(end));
    }
  }

  void XLabel(double value, const std::string& text, const char* anchor) {
    Label(X(value), kHeight - kBottom + 16, anchor, text);
  }
  void Dot(double x, double y, const char* css, const std::string& told) {
    svg_ += fmt::format(
        R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>)",
        css, X(x), Y(y), EscapeXml(told));
  }
  void Line(const std::vector<std::pair<double, double>>& points,
            const char* css, const std::string& told) {
    std::string text;
    for (const auto& [x, y] : points) {
      text += fmt::format("{:.1f},{:.1f} ", X(x), Y(y));
    }
    svg_ += fmt::format(
        R"(<polyline class="{}" points="{}"><title>{}</title></polyline>)", css,
        text, EscapeXml(told));
  }
  std::string Done() const { return svg_ + "</svg>\n"; }

 private:
  double X(double value) const {
    return kLeft +
           std::clamp(x_.At(value), 0.0, 1.0) * (kWidth - kLeft - kRight);
  }
  double Y(double value) const {
    return kHeight - kBottom -
           std::clamp(y_.At(value), 0.0, 1.0) * (kHeight - kTop - kBottom);
  }
  void Label(double x, double y, const char* anchor, const std::string& text) {
    svg_ +=
        fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)",
                    x, y, anchor, EscapeXml(text));
  }

  const Axis x_, y_;
  std::string svg_;
};

// The best three quarters of the values, so that trials which learned nothing do
// not press the others together.
Axis ValueAxis(const std::vector<TrialRow>& rows) {
  std::vector<double> values;  // the best first
  for (const TrialRow& row : rows) {
    if (std::isfinite(row.value)) values.push_back(row.value);
  }
  if (values.empty()) return {};
  values.resize(std::max<size_t>(1, values.size() * 3 / 4));
  const auto [low, high] = std::ranges::minmax(values);
  const double room = (high - low) * 0.05;
  return {low - room, high + room, false};
}

Axis DimensionAxis(const tune::Dimension& dimension) {
  using Kind = tune::Dimension::Kind;
  if (dimension.kind == Kind::kChoice) {
    return {-0.5, static_cast<double>(dimension.choices.size()) - 0.5, false};
  }
  return {dimension.low, dimension.high, dimension.kind == Kind::kLog};
}

double PlaceOf(const tune::Dimension& dimension, const std::string& value) {
  if (dimension.kind == tune::Dimension::Kind::kChoice) {
    return static_cast<double>(std::ranges::find(dimension.choices, value) -
                               dimension.choices.begin());
  }
  return std::strtod(value.c_str(), nullptr);
}

std::string Told(const SearchFacts& facts, const TrialRow& row) {
  std::string text = fmt::format("trial {}, {} epochs, {} {:.5g}", row.trial,
                                 row.epochs, facts.objective, row.value);
  for (const auto& [name, value] : row.parameters) {
    text += fmt::format(", {}={}", name, value);
  }
  return text;
}

std::string DrawDimension(const SearchFacts& facts,
                          const std::vector<TrialRow>& rows, size_t index,
                          int64_t best) {
  const tune::Dimension& dimension = facts.space[index];
  const Axis x = DimensionAxis(dimension);
  Picture picture(facts.objective + " by " + dimension.name, x,
                  ValueAxis(rows));
  if (dimension.kind == tune::Dimension::Kind::kChoice) {
    for (size_t i = 0; i < dimension.choices.size(); ++i) {
      picture.XLabel(static_cast<double>(i), dimension.choices[i], "middle");
    }
  } else {
    picture.XLabel(x.low, ShortNumber(x.low), "start");
    picture.XLabel(x.high, ShortNumber(x.high), "end");
  }
  for (size_t i = rows.size(); i-- > 0;) {  // the best ones above
    const TrialRow& row = rows[i];
    if (!std::isfinite(row.value) || index >= row.parameters.size()) continue;
    const char* css = row.trial == best           ? "dot best"
                      : row.epochs < facts.epochs ? "dot pruned"
                                                  : "dot";
    picture.Dot(PlaceOf(dimension, row.parameters[index].second), row.value,
                css, Told(facts, row));
  }
  return picture.Done();
}

std::string DrawCurves(const SearchFacts& facts,
                       const std::vector<TrialRow>& rows,
                       const std::vector<tune::TrialRecord>& trials,
                       int64_t best) {
  const Axis x{1, static_cast<double>(std::max<int64_t>(facts.epochs, 2)),
               false};
  Picture picture(facts.objective + " by epoch", x, ValueAxis(rows));
  for (const int64_t rung : facts.rungs) {
    picture.XLabel(static_cast<double>(rung), fmt::format("{}", rung),
                   "middle");
  }
  for (size_t i = rows.size(); i-- > 0;) {
    std::vector<std::pair<double, double>> points;
    const auto trial = static_cast<size_t>(rows[i].trial);
    for (const auto& [epoch, result] : trials[trial].epochs) {
      if (!std::isfinite(result.value)) continue;
      points.emplace_back(static_cast<double>(epoch), result.value);
    }
    const bool chosen = rows[i].trial == best;
    if (points.size() > 1) {
      picture.Line(points, chosen ? "line bestline" : "line",
                   Told(facts, rows[i]));
    } else if (points.size() == 1) {
      picture.Dot(points[0].first, points[0].second,
                  chosen ? "dot best" : "dot pruned", Told(facts, rows[i]));
    }
  }
  return picture.Done();
}

std::string Table(const SearchFacts& facts, const std::vector<TrialRow>& rows,
                  int64_t best) {
  std::string html = "<table><tr><th>trial</th><th>epochs</th><th>" +
                     EscapeXml(facts.objective) + "</th><th>at epoch</th>";
  for (const tune::Dimension& dimension : facts.space) {
    html += "<th>" + EscapeXml(dimension.name) + "</th>";
  }
  html += "<th></th></tr>\n";
  for (const TrialRow& row : rows) {
    html += fmt::format(
        "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
        row.trial == best ? " class=\"chosen\"" : "", row.trial, row.epochs,
        std::isfinite(row.value) ? fmt::format("{:.6g}", row.value) : "",
        row.best_epoch == 0 ? "" : fmt::format("{}", row.best_epoch));
    for (const auto& [name, value] : row.parameters) {
      html += "<td>" + EscapeXml(value) + "</td>";
    }
    html += "<td>" + EscapeXml(row.state) + "</td></tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::string MakeSearchPage(const SearchFacts& facts,
                           const std::vector<tune::TrialRecord>& trials,
                           const tune::SearchResult& result) {
  const std::vector<TrialRow> rows = RowsOf(facts, trials, {});
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<title>{0}: {1} trials</title><style>{2}</style></head><body>\n"
      "<h1>{0}: {1} of {3} trials, {4} epochs</h1>\n",
      EscapeXml(facts.network), trials.size(), kStyle, facts.trials,
      EpochsOf(trials));
  if (result.best >= 0) {
    const auto best = std::ranges::find(rows, result.best, &TrialRow::trial);
    html += "<p>Best: " + EscapeXml(Told(facts, *best)) + ".</p>\n";
  }
  html +=
      "<div class=\"charts\">\n" + DrawCurves(facts, rows, trials, result.best);
  for (size_t i = 0; i < facts.space.size(); ++i) {
    html += DrawDimension(facts, rows, i, result.best);
  }
  html += "</div>\n<h2>Trials</h2>\n" + Table(facts, rows, result.best);
  return html + "</body></html>\n";
}

}  // namespace mxc
