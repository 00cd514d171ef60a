// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/epoch_table.h"

#include <time.h>

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/train/chart.h"
#include "runtime/train/progress.h"
#include "runtime/train/status.h"

namespace mxc::train {
namespace {

constexpr size_t kMostRows = 500;  // the last ones

// Null where the curve has no point at the step.
const Point* At(const SeriesMap& series, const std::string& name,
                int64_t step) {
  const auto curve = series.find(name);
  if (curve == series.end()) return nullptr;
  const auto point =
      std::ranges::lower_bound(curve->second, step, {}, &Point::step);
  const bool there = point != curve->second.end() && point->step == step;
  return there ? &*point : nullptr;
}

// "2026-11-24 14:03:07", where the reader's clock is this machine's.
std::string ClockText(double time) {
  if (!(time > 0 && time < 1e11)) return "";
  const auto seconds = static_cast<time_t>(time);
  tm parts = {};
  char text[32] = "";
  if (localtime_r(&seconds, &parts) != nullptr) {
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  }
  return text;
}

// The metrics and what was found in validation: curves of a group that have a
// point where epochs end. The loss of training is the epoch's mean.
std::vector<std::string> FiguresOf(const SeriesMap& series, int64_t step) {
  std::vector<std::string> names;
  for (const char* group : {"train/", "val/"}) {
    for (const auto& [name, points] : series) {
      if (!name.starts_with(group) || name == "train/loss") continue;
      if (At(series, name, step) != nullptr) names.push_back(name);
    }
  }
  return names;
}

std::string Cell(const std::string& text, const char* tag = "td") {
  return Format("<%s>%s</%s>", tag, EscapeXml(text).c_str(), tag);
}

std::string NumberCell(const Point* point) {
  return Cell(point == nullptr ? "" : Format("%.5g", point->value));
}

// Whole ones where there are many.
std::string RateCell(const Point* point) {
  const bool many = point != nullptr && point->value >= 1000;
  return many ? Cell(Format("%.0f", point->value)) : NumberCell(point);
}

std::string Titles(const std::vector<std::string>& figures) {
  std::vector<std::string> titles = {"epoch", "step", "loss"};
  for (const std::string& name : figures) {
    const size_t slash = name.find('/');
    titles.push_back((name.starts_with("val/") ? "val " : "") +
                     name.substr(slash + 1));
  }
  titles.insert(titles.end(), {"learning rate", "samples/s", "took", "ended"});
  std::string row = "<tr>";
  for (const std::string& title : titles) row += Cell(title, "th");
  return row + "</tr>\n";
}

}  // namespace

std::string EpochTable(const SeriesMap& series) {
  const std::string group(kEpochGroup);
  const auto epochs = series.find(group + "epoch");
  if (epochs == series.end() || epochs->second.empty()) return "";
  const auto figures = FiguresOf(series, epochs->second.back().step);
  std::string table = "<table class=\"epochs\">\n" + Titles(figures);
  std::span<const Point> shown = epochs->second;
  shown = shown.last(std::min(shown.size(), kMostRows));
  for (const Point& epoch : shown) {
    const auto at = [&](const std::string& name) {
      return At(series, name, epoch.step);
    };
    table += "<tr>" + Cell(Format("%.0f", epoch.value)) +
             Cell(std::to_string(epoch.step)) + NumberCell(at(group + "loss"));
    for (const std::string& name : figures) table += NumberCell(at(name));
    const Point* seconds = at(group + "seconds");
    table += NumberCell(at(group + "learning_rate")) +
             RateCell(at(group + "samples_per_s")) +
             Cell(seconds == nullptr ? "" : ClockTime(seconds->value)) +
             Cell(ClockText(epoch.time)) + "</tr>\n";
  }
  return table + "</table>\n";
}

}  // namespace mxc::train
