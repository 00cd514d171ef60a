// SPDX-License-Identifier: Apache-2.0
#include "tools/page/statistics_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/diagram/graphviz.h"

namespace mxc {
namespace {

std::string HistogramSvg(const TensorStatistics& tensor) {
  constexpr double kBar = 4, kHeight = 20;
  const int64_t highest = *std::ranges::max_element(tensor.bars);
  if (highest == 0) return "";
  std::string out =
      fmt::format("<svg class=\"histogram\" width=\"{}\" height=\"{}\">",
                  kBar * static_cast<double>(tensor.bars.size()), kHeight);
  for (size_t i = 0; i < tensor.bars.size(); ++i) {
    if (tensor.bars[i] == 0) continue;
    // A few values among millions are still seen.
    const double height =
        std::max(1.0, kHeight * static_cast<double>(tensor.bars[i]) /
                          static_cast<double>(highest));
    out += fmt::format(
        "<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>",
        kBar * static_cast<double>(i), kHeight - height, kBar - 1, height);
  }
  return out + "</svg>";
}

std::string StatisticsRow(const TensorStatistics& tensor) {
  const double share = tensor.count == 0
                           ? 0
                           : 100 * static_cast<double>(tensor.zeros) /
                                 static_cast<double>(tensor.count);
  std::string name = EscapeMarkup(tensor.name);
  if (tensor.not_finite > 0) {
    name +=
        fmt::format(" <b class=\"bad\">{} no number</b>", tensor.not_finite);
  }
  std::string out = fmt::format("<tr><td class=\"name\">{}</td><td>{}</td>",
                                name, EscapeMarkup(ToString(tensor.type)));
  for (const double figure :
       {tensor.least, tensor.most, tensor.mean, tensor.deviation}) {
    out += fmt::format("<td class=\"n\">{:.4g}</td>", figure);
  }
  return out + fmt::format("<td class=\"n\">{:.3g} %</td><td>{}</td></tr>\n",
                           share, HistogramSvg(tensor));
}

}  // namespace

std::string StatisticsTable(const std::vector<TensorStatistics>& tensors) {
  std::string out =
      "<div class=\"scroll\"><table id=\"tensors\"><tr><th>name</th>"
      "<th>type</th><th class=\"n\">least</th><th class=\"n\">most</th>"
      "<th class=\"n\">mean</th><th class=\"n\">deviation</th>"
      "<th class=\"n\">zeros</th><th>values</th></tr>\n";
  for (const TensorStatistics& tensor : tensors) out += StatisticsRow(tensor);
  return out + "</table></div>\n";
}

}  // namespace mxc
