// SPDX-License-Identifier: Apache-2.0
#include "tools/page/communication_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/communication.h"
#include "tools/diagram/graphviz.h"

namespace mxc {
namespace {

// Work to the right, two steps of it; a row for each parameter.
struct Timeline {
  double left = 250, top = 22, step = 420, row = 17;
  size_t rows;
  std::vector<double> begins;

  double X(int repetition, int at) const {
    const size_t last = begins.size() - 1;
    return left + step * (repetition +
                          begins[std::min(static_cast<size_t>(at), last)]);
  }
  double Y(size_t k) const { return top + row * static_cast<double>(k); }
  double width() const { return left + 2 * step + 10; }
  double height() const { return Y(rows) + 8; }
};

void AppendSteps(const Timeline& line, std::string& out) {
  for (int i = 0; i <= 2; ++i) {
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
        "stroke=\"#c3cad3\"/>\n",
        line.left + line.step * i, line.top - 4, line.Y(line.rows) + 2);
  }
  for (int i = 0; i < 2; ++i) {
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"12\" font-size=\"11\" fill=\"#67707c\" "
        "text-anchor=\"middle\">{}</text>\n",
        line.left + line.step * (i + 0.5), i == 0 ? "a step" : "the next");
  }
}

// From light to dark, for urgencies from 1 to 0.
std::string Shade(double urgency) {
  return fmt::format("hsl(210, 52%, {:.0f}%)", 45 + 40 * urgency);
}

void AppendExchange(const Timeline& line, const Overview& o, size_t k,
                    int latest, std::string& out) {
  const ExchangeRow& exchange = o.exchanges[k];
  const double x = line.X(0, exchange.ready + 1);
  const double width = line.X(1, exchange.needed) - x;
  out += fmt::format(
      "<g><title>{0} {1}\nleaves after step {2}, {3}\nneeded by step {4}, {5}\n"
      "urgency {6}</title>"
      "<text x=\"{7:.1f}\" y=\"{8:.1f}\" font-size=\"11\" fill=\"#22262b\" "
      "text-anchor=\"end\">{9} <tspan fill=\"#67707c\">{1}</tspan></text>"
      "<rect x=\"{10:.1f}\" y=\"{11:.1f}\" width=\"{12:.1f}\" "
      "height=\"{13:.1f}\" rx=\"2\" fill=\"{14}\"/></g>\n",
      EscapeMarkup(exchange.parameter), FormatBytes(exchange.bytes),
      exchange.ready, EscapeMarkup(StepName(o, exchange.ready)),
      exchange.needed, EscapeMarkup(StepName(o, exchange.needed)),
      exchange.priority, line.left - 8, line.Y(k) + 12,
      EscapeMarkup(Shorten(exchange.parameter, 26)), x, line.Y(k) + 2,
      std::max(width, 1.5), line.row - 4,
      Shade(static_cast<double>(exchange.priority) / latest));
}

}  // namespace

std::string CommunicationChart(const Overview& o) {
  const Timeline line = {.rows = o.exchanges.size(),
                         .begins = BeginsOfSteps(o)};
  int latest = 1;
  for (const ExchangeRow& exchange : o.exchanges) {
    latest = std::max(latest, exchange.priority);
  }
  std::string out = fmt::format(
      "<div class=\"scroll\"><svg width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
      line.width(), line.height());
  AppendSteps(line, out);
  for (size_t k = 0; k < o.exchanges.size(); ++k) {
    AppendExchange(line, o, k, latest, out);
  }
  return out + "</svg></div>\n";
}

}  // namespace mxc
