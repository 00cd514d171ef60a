// SPDX-License-Identifier: Apache-2.0
#include "tools/run/class_report.h"

#include <algorithm>

#include "runtime/base/status.h"
#include "runtime/base/visible.h"

namespace mxc::run {
namespace {

using runtime::Format;

constexpr size_t kWidth = 80, kLongestName = 24, kShortestName = 5;
constexpr size_t kMostPairs = 20;

size_t Letters(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

// At most `width` letters, a longer name without its middle's rest, filled up
// with spaces.
std::string Fitted(const std::string& name, size_t width, bool right = false) {
  std::string text = runtime::Visible(name);
  if (Letters(text) > width) {
    size_t end = 0, letters = 0;
    while (end < text.size()) {
      if ((text[end] & 0xc0) != 0x80 && letters++ == width - 1) break;
      ++end;
    }
    text = text.substr(0, end) + "…";
  }
  const std::string fill(width - std::min(width, Letters(text)), ' ');
  return right ? fill + text : text + fill;
}

double Share(double part, double all) { return all > 0 ? part / all : 0; }

double CountOf(const train::ConfusionMatrix& matrix, int64_t label,
               int64_t predicted) {
  const int64_t classes = matrix.classes();
  return label < classes && predicted < classes ? matrix.Count(label, predicted)
                                                : 0;
}

std::string Number(double count) {
  return std::to_string(static_cast<long long>(count));
}

// Empty where the matrix is wider than a line.
std::string MatrixText(const train::ConfusionMatrix& matrix,
                       const std::vector<ClassFigures>& rows, size_t name) {
  size_t column = kShortestName;
  for (const ClassFigures& row : rows) {
    column = std::max(column, Number(row.samples).size());
  }
  if (name + rows.size() * (column + 1) > kWidth) return "";
  const size_t room = (kWidth - name) / rows.size() - 1;
  size_t longest = column;
  for (const ClassFigures& row : rows) {
    longest = std::max(longest, Letters(runtime::Visible(row.name)));
  }
  column = std::min(longest, room);
  std::string text = "\n" + Fitted("is \\ taken for", name);
  for (const ClassFigures& row : rows) {
    text += " " + Fitted(row.name, column, true);
  }
  text += "\n";
  for (size_t label = 0; label < rows.size(); ++label) {
    text += Fitted(rows[label].name, name);
    for (size_t k = 0; k < rows.size(); ++k) {
      const double count =
          CountOf(matrix, static_cast<int64_t>(label), static_cast<int64_t>(k));
      text += " " + Fitted(Number(count), column, true);
    }
    text += "\n";
  }
  return text;
}

// The pairs that are confused most, the first of equals as they are numbered.
std::string PairsText(const train::ConfusionMatrix& matrix,
                      const std::vector<ClassFigures>& rows, size_t name) {
  struct Pair {
    int64_t label, predicted;
    double count;
  };
  std::vector<Pair> pairs;
  for (int64_t label = 0; label < matrix.classes(); ++label) {
    for (int64_t k = 0; k < matrix.classes(); ++k) {
      const double count = matrix.Count(label, k);
      if (label != k && count > 0) pairs.push_back({label, k, count});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>(), &Pair::count);
  if (pairs.size() > kMostPairs) pairs.resize(kMostPairs);
  if (pairs.empty()) return "";
  std::string text =
      "\n" + Fitted("is", name) + " " + Fitted("taken for", name) + "  times\n";
  for (const Pair& pair : pairs) {
    text += Fitted(rows[static_cast<size_t>(pair.label)].name, name) + " " +
            Fitted(rows[static_cast<size_t>(pair.predicted)].name, name) +
            Format(" %6lld\n", static_cast<long long>(pair.count));
  }
  return text;
}

}  // namespace

std::vector<ClassFigures> FiguresOf(const train::ConfusionMatrix& matrix,
                                    const std::vector<std::string>& names) {
  const int64_t classes = std::max(matrix.classes(), std::ssize(names));
  std::vector<ClassFigures> rows;
  for (int64_t k = 0; k < classes; ++k) {
    ClassFigures row;
    row.name = k < std::ssize(names) ? names[static_cast<size_t>(k)]
                                     : std::to_string(k);
    for (int64_t other = 0; other < matrix.classes(); ++other) {
      row.samples += CountOf(matrix, k, other);
      row.predicted += CountOf(matrix, other, k);
    }
    row.right = CountOf(matrix, k, k);
    row.precision = Share(row.right, row.predicted);
    row.recall = Share(row.right, row.samples);
    row.f1 = Share(2 * row.right, row.samples + row.predicted);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string ClassTable(const train::ConfusionMatrix& matrix,
                       const std::vector<std::string>& names) {
  const std::vector<ClassFigures> rows = FiguresOf(matrix, names);
  size_t name = Letters("is \\ taken for");
  for (const ClassFigures& row : rows) {
    name = std::max(name, Letters(runtime::Visible(row.name)));
  }
  name = std::min(name, kLongestName);
  std::string text =
      "\n" + Fitted("class", name) + "  samples  precision  recall      F1\n";
  for (const ClassFigures& row : rows) {
    text += Fitted(row.name, name) + Format(" %8lld %10.4f %7.4f %7.4f\n",
                                            static_cast<long long>(row.samples),
                                            row.precision, row.recall, row.f1);
  }
  const std::string cells = MatrixText(matrix, rows, name);
  return text + (cells.empty() ? PairsText(matrix, rows, name) : cells);
}

nlohmann::ordered_json ClassesToJson(const train::ConfusionMatrix& matrix,
                                     const std::vector<std::string>& names) {
  using Json = nlohmann::ordered_json;
  const std::vector<ClassFigures> rows = FiguresOf(matrix, names);
  Json classes = Json::array(), confusion = Json::array();
  for (size_t label = 0; label < rows.size(); ++label) {
    const ClassFigures& row = rows[label];
    classes.push_back({{"name", row.name},
                       {"samples", static_cast<int64_t>(row.samples)},
                       {"precision", row.precision},
                       {"recall", row.recall},
                       {"f1", row.f1}});
    Json counts = Json::array();
    for (size_t k = 0; k < rows.size(); ++k) {
      counts.push_back(static_cast<int64_t>(CountOf(
          matrix, static_cast<int64_t>(label), static_cast<int64_t>(k))));
    }
    confusion.push_back(std::move(counts));
  }
  return {{"classes", std::move(classes)}, {"confusion", std::move(confusion)}};
}

}  // namespace mxc::run
