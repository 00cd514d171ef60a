// SPDX-License-Identifier: Apache-2.0
#include "tools/page/memory_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "tools/diagram/graphviz.h"

namespace mxc {
namespace {

// Neighbours differ.
const char* FillColor(int n) {
  static constexpr auto kColors = std::to_array<const char*>(
      {"#bcd9f2", "#f7cfa8", "#c5e6bf", "#f2bdc4", "#d6cbee", "#f3e6a1",
       "#b9e4e0", "#e8c9dd", "#d5dbb0", "#c9d0dc", "#f5c6f0", "#cfe9f9"});
  return kColors[static_cast<size_t>(n) % kColors.size()];
}

bool LiesInArena(const BufferRow& b) { return b.in_arena() && b.first >= 0; }

// Steps to the right, bytes upwards.
struct Chart {
  double left = 70, top = 24, width = 1020, height = 300, bottom = 34;
  double steps, bytes;
  double X(double step) const { return left + step / steps * width; }
  double Y(double at) const { return top + (1 - at / bytes) * height; }
};

// 1, 2, 5 or 10 and so on of a unit of 1024, so that at most six ticks stand
// below `bytes`.
double TickOf(double bytes) {
  double unit = 1;
  while (unit * 1024 * 2 < bytes) unit *= 1024;
  for (double tick = unit;; tick *= 10) {
    for (const double times : {1.0, 2.0, 5.0}) {
      if (bytes / (tick * times) <= 6) return tick * times;
    }
  }
}

void AppendGrid(const Chart& chart, const Overview& o, std::string& out) {
  const double tick = TickOf(chart.bytes);
  for (double bytes = 0; bytes <= chart.bytes; bytes += tick) {
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

// The sum of live bytes during each step.
std::vector<int64_t> LiveBytes(const Overview& o) {
  std::vector<int64_t> live(o.steps.size() + 1);  // at first the changes
  for (const BufferRow& b : o.buffers) {
    if (!LiesInArena(b) || b.first >= std::ssize(o.steps)) continue;
    live[b.first] += b.bytes;
    live[std::min(b.last + 1, static_cast<int>(o.steps.size()))] -= b.bytes;
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  return live;
}

// A line at the peak: how much it is, and the first step that reaches it.
void AppendPeak(const Chart& chart, const Overview& o,
                const std::vector<int64_t>& live, std::string& out) {
  const auto peak = std::ranges::max_element(live);
  if (peak == live.end()) return;
  const double step = static_cast<double>(peak - live.begin());
  const double x = chart.X(step + 0.5);
  const double y = chart.Y(static_cast<double>(*peak));
  const bool right = x > chart.left + chart.width / 2;
  out += fmt::format(
      "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3.5\" fill=\"#c0392b\"/>"
      "<text class=\"peak\" x=\"{2:.1f}\" y=\"{3:.1f}\" font-size=\"11\" "
      "fill=\"#c0392b\" text-anchor=\"{4}\">peak {5}, step {6:.0f}: {7}"
      "</text>\n",
      x, y, x + (right ? -7 : 7), y - 6, right ? "end" : "start",
      FormatBytes(*peak), step,
      EscapeMarkup(Shorten(StepTitles(o)[peak - live.begin()], 60)));
}

// The sum of live bytes, which no plan can stay below.
void AppendLiveLine(const Chart& chart, const std::vector<int64_t>& live,
                    std::string& out) {
  std::string points;
  for (size_t s = 0; s < live.size(); ++s) {
    const double y = chart.Y(static_cast<double>(live[s]));
    points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ",
                          chart.X(static_cast<double>(s)), y,
                          chart.X(static_cast<double>(s) + 1), y);
  }
  out += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#22262b\" "
      "stroke-width=\"1.2\" stroke-dasharray=\"3 2\"/>\n",
      points);
}

}  // namespace

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
          EscapeMarkup(Shorten(b.name, static_cast<size_t>(width / 6))));
    }
    out += "</g>\n";
  }
  const std::vector<int64_t> live = LiveBytes(o);
  AppendLiveLine(chart, live, out);
  AppendPeak(chart, o, live, out);
  return out + "</svg></div>\n";
}

}  // namespace mxc
