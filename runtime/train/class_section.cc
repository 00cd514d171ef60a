// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/class_section.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/base/visible.h"
#include "runtime/train/chart.h"
#include "runtime/train/status.h"

namespace mxc::train {
namespace {

constexpr size_t kLongestName = 24;
// Classes from which on a matrix is no longer seen as a whole.
constexpr size_t kMany = 13;
constexpr size_t kMostPairs = 20;

// In a header cell; of a long name the beginning, all of it where the pointer is.
std::string NameCell(const std::string& name) {
  const std::string text = runtime::Visible(name);
  if (runtime::CharactersIn(text) <= kLongestName) {
    return "<th><span>" + EscapeXml(text) + "</span></th>";
  }
  return "<th title=\"" + EscapeXml(text) + "\"><span>" +
         EscapeXml(runtime::Shortened(text, kLongestName)) + "</span></th>";
}

std::string MeanRow(const char* name, const ClassMeans& mean) {
  return Format(
      "<tr><th>%s</th><td></td><td>%.4f</td><td>%.4f</td><td>%.4f</td></tr>\n",
      name, mean.precision, mean.recall, mean.f1);
}

std::string FiguresTable(const ClassCounts& counts,
                         const std::vector<ClassFigures>& figures) {
  std::string table =
      "<div class=\"box\"><table class=\"classes\">\n<thead><tr><th>class</th>"
      "<th>samples</th><th>precision</th><th>recall</th><th>F1</th></tr>"
      "</thead>\n<tbody>\n";
  for (size_t k = 0; k < figures.size(); ++k) {
    const ClassFigures& f = figures[k];
    table +=
        "<tr>" + NameCell(counts.names[k]) +
        Format("<td>%lld</td><td>%.4f</td><td>%.4f</td><td>%.4f</td></tr>\n",
               static_cast<long long>(f.samples), f.precision, f.recall, f.f1);
  }
  return table + "</tbody>\n<tfoot>\n" +
         MeanRow("macro mean", MacroMean(figures)) +
         MeanRow("weighted mean", WeightedMean(figures)) +
         "</tfoot></table></div>\n";
}

std::string PairsTable(const ClassCounts& counts,
                       const std::vector<ClassFigures>& figures) {
  const std::vector<ConfusedPair> pairs = MostConfused(counts, kMostPairs);
  if (counts.classes() < kMany || pairs.empty()) return "";
  std::string table =
      "<div class=\"box\"><table class=\"classes pairs\">\n<thead><tr><th>is"
      "</th><th>taken for</th><th>times</th><th>of</th></tr></thead>\n"
      "<tbody>\n";
  for (const ConfusedPair& pair : pairs) {
    table += "<tr>" + NameCell(counts.names[pair.label]) +
             NameCell(counts.names[pair.predicted]) +
             Format("<td>%lld</td><td>%lld</td></tr>\n",
                    static_cast<long long>(pair.count),
                    static_cast<long long>(figures[pair.label].samples));
  }
  return table + "</tbody></table></div>\n";
}

// Roots of shares, so that what is seldom confused is seen, too.
int LevelOf(int64_t count, int64_t row) {
  const double share = static_cast<double>(count) / static_cast<double>(row);
  return std::max(
      1, static_cast<int>(std::lround(kCellLevels * std::sqrt(share))));
}

std::string Cell(int64_t count, int64_t row, bool right) {
  if (count == 0) return "<td></td>";
  return Format("<td class=\"%s%d\">%lld</td>", right ? "right" : "wrong",
                LevelOf(count, row), static_cast<long long>(count));
}

std::string MatrixTable(const ClassCounts& counts,
                        const std::vector<ClassFigures>& figures) {
  const size_t classes = counts.classes();
  if (classes > kMostDrawn) {
    return Format(
        "<p>The confusion matrix is drawn of up to %zu classes.</p>\n",
        kMostDrawn);
  }
  const int64_t largest = *std::ranges::max_element(counts.counts);
  const size_t digits = std::to_string(largest).size();
  std::string table = Format(
      "<div class=\"box\"><table class=\"matrix%s\" style=\"--digits: %zu\">\n"
      "<thead><tr><th>is \\ taken for</th>",
      classes < kMany ? "" : " many", digits);
  for (const std::string& name : counts.names) table += NameCell(name);
  table += "</tr></thead>\n<tbody>\n";
  for (size_t label = 0; label < classes; ++label) {
    table += "<tr>" + NameCell(counts.names[label]);
    for (size_t k = 0; k < classes; ++k) {
      table += Cell(counts.Count(label, k), figures[label].samples, label == k);
    }
    table += "</tr>\n";
  }
  table += "</tbody></table></div>\n";
  if (classes < kMany) return table;
  return "<p><label><input type=\"checkbox\" class=\"whole\"> as small as the "
         "window</label></p>\n" +
         table;
}

}  // namespace

std::string ClassSection(const ValidatedClasses& validated) {
  const ClassCounts& counts = validated.counts;
  if (counts.classes() == 0) return "";
  const std::vector<ClassFigures> figures = FiguresOf(counts);
  const std::string matrix =
      "<div class=\"confusion\">\n" + MatrixTable(counts, figures) + "</div>\n";
  const std::string tables =
      FiguresTable(counts, figures) + PairsTable(counts, figures);
  return counts.classes() < kMany
             ? "<div class=\"by-class\">\n" + tables + matrix + "</div>\n"
             : "<div class=\"by-class\">\n" + tables + "</div>\n" + matrix;
}

}  // namespace mxc::train
