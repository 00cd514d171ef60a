// SPDX-License-Identifier: Apache-2.0
#include "tools/run/class_report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/base/visible.h"

namespace mxc::run {
namespace {

using Json = nlohmann::ordered_json;
using runtime::Format;
using train::ClassCounts;
using train::ClassFigures;
using train::ClassMeans;

constexpr size_t kWidth = 80, kLongestName = 24, kShortestName = 5;
constexpr size_t kMostPairs = 20;
constexpr const char* kCorner = "is \\ taken for";

// `width` characters: a longer name is cut, a shorter one filled up with spaces.
std::string Fitted(const std::string& name, size_t width, bool right = false) {
  const std::string text = runtime::Shortened(runtime::Visible(name), width);
  const std::string fill(width - std::min(width, runtime::CharactersIn(text)),
                         ' ');
  return right ? fill + text : text + fill;
}

// Empty where the matrix is wider than a line.
std::string MatrixText(const ClassCounts& counts,
                       const std::vector<ClassFigures>& figures, size_t name) {
  const size_t classes = counts.classes();
  size_t column = kShortestName;
  for (const ClassFigures& row : figures) {
    column = std::max(column, std::to_string(row.samples).size());
  }
  if (name + classes * (column + 1) > kWidth) return "";
  const size_t room = (kWidth - name) / classes - 1;
  size_t longest = column;
  for (const std::string& text : counts.names) {
    longest = std::max(longest, runtime::CharactersIn(runtime::Visible(text)));
  }
  column = std::min(longest, room);
  std::string text = "\n" + Fitted(kCorner, name);
  for (const std::string& title : counts.names) {
    text += " " + Fitted(title, column, true);
  }
  text += "\n";
  for (size_t label = 0; label < classes; ++label) {
    text += Fitted(counts.names[label], name);
    for (size_t k = 0; k < classes; ++k) {
      text +=
          " " + Fitted(std::to_string(counts.Count(label, k)), column, true);
    }
    text += "\n";
  }
  return text;
}

std::string PairsText(const ClassCounts& counts, size_t name) {
  const auto pairs = train::MostConfused(counts, kMostPairs);
  if (pairs.empty()) return "";
  std::string text =
      "\n" + Fitted("is", name) + " " + Fitted("taken for", name) + "  times\n";
  for (const train::ConfusedPair& pair : pairs) {
    text += Fitted(counts.names[pair.label], name) + " " +
            Fitted(counts.names[pair.predicted], name) +
            Format(" %6lld\n", static_cast<long long>(pair.count));
  }
  return text;
}

std::string MeanLine(const char* title, const ClassMeans& mean, size_t name) {
  return Fitted(title, name) + Format("          %10.4f %7.4f %7.4f\n",
                                      mean.precision, mean.recall, mean.f1);
}

Json MeansToJson(const ClassMeans& mean) {
  return {
      {"precision", mean.precision}, {"recall", mean.recall}, {"f1", mean.f1}};
}

}  // namespace

std::string ClassTable(const ClassCounts& counts) {
  const std::vector<ClassFigures> figures = train::FiguresOf(counts);
  size_t name = runtime::CharactersIn(kCorner);
  for (const std::string& text : counts.names) {
    name = std::max(name, runtime::CharactersIn(runtime::Visible(text)));
  }
  name = std::min(name, kLongestName);
  std::string text =
      "\n" + Fitted("class", name) + "  samples  precision  recall      F1\n";
  for (size_t k = 0; k < figures.size(); ++k) {
    const ClassFigures& row = figures[k];
    text += Fitted(counts.names[k], name) +
            Format(" %8lld %10.4f %7.4f %7.4f\n",
                   static_cast<long long>(row.samples), row.precision,
                   row.recall, row.f1);
  }
  text += MeanLine("macro mean", train::MacroMean(figures), name) +
          MeanLine("weighted mean", train::WeightedMean(figures), name);
  const std::string cells = MatrixText(counts, figures, name);
  return text + (cells.empty() ? PairsText(counts, name) : cells);
}

Json ClassesToJson(const ClassCounts& counts) {
  const std::vector<ClassFigures> figures = train::FiguresOf(counts);
  Json classes = Json::array(), confusion = Json::array();
  for (size_t label = 0; label < figures.size(); ++label) {
    const ClassFigures& row = figures[label];
    classes.push_back({{"name", counts.names[label]},
                       {"samples", row.samples},
                       {"precision", row.precision},
                       {"recall", row.recall},
                       {"f1", row.f1}});
    Json cells = Json::array();
    for (size_t k = 0; k < figures.size(); ++k) {
      cells.push_back(counts.Count(label, k));
    }
    confusion.push_back(std::move(cells));
  }
  return {{"classes", std::move(classes)},
          {"macro", MeansToJson(train::MacroMean(figures))},
          {"weighted", MeansToJson(train::WeightedMean(figures))},
          {"confusion", std::move(confusion)}};
}

}  // namespace mxc::run
