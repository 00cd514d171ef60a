// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/search_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/terminal.h"
#include "runtime/train/progress.h"

namespace mxc {
namespace {

constexpr size_t kShownTrials = 10;
constexpr int64_t kRedrawNanoseconds = 500'000'000;

std::string ValueText(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.5g}", value);
}

std::string StateOf(const tune::TrialRecord& trial, int64_t epochs,
                    int64_t whole, bool runs) {
  if (!trial.over.empty()) return trial.over;
  if (runs) return "runs";
  return epochs == whole ? "whole" : "pruned";
}

Json NumberOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json JsonOfRow(const TrialRow& row) {
  Json parameters = Json::object();
  for (const auto& [name, value] : row.parameters) parameters[name] = value;
  return {{"trial", row.trial},           {"parameters", parameters},
          {"epochs", row.epochs},         {"value", NumberOrNull(row.value)},
          {"best_epoch", row.best_epoch}, {"state", row.state}};
}

}  // namespace

int64_t EpochsOf(const std::vector<tune::TrialRecord>& trials) {
  int64_t epochs = 0;
  for (const tune::TrialRecord& trial : trials) {
    epochs += std::ssize(trial.epochs);
  }
  return epochs;
}

std::vector<TrialRow> RowsOf(const SearchFacts& facts,
                             const std::vector<tune::TrialRecord>& trials,
                             const std::vector<tune::Task>& running) {
  std::vector<TrialRow> rows;
  for (int64_t i = 0; i < std::ssize(trials); ++i) {
    const tune::TrialRecord& trial = trials[static_cast<size_t>(i)];
    const auto [value, epoch] = trial.Best(facts.epochs, facts.less_is_better);
    const bool runs = std::ranges::count(running, i, &tune::Task::trial) > 0;
    const int64_t epochs = std::ssize(trial.epochs);
    rows.push_back({i, trial.parameters, epochs, epoch, value,
                    StateOf(trial, epochs, facts.epochs, runs)});
  }
  std::ranges::stable_sort(rows, [&](const TrialRow& a, const TrialRow& b) {
    if (std::isnan(a.value) || std::isnan(b.value)) {
      return std::isnan(b.value) && !std::isnan(a.value);
    }
    return facts.less_is_better ? a.value < b.value : a.value > b.value;
  });
  return rows;
}

Json JsonOfSearch(const SearchFacts& facts,
                  const std::vector<tune::TrialRecord>& trials,
                  const tune::SearchResult& result) {
  const std::vector<TrialRow> rows = RowsOf(facts, trials, {});
  Json json = {{"network", facts.network},      {"objective", facts.objective},
               {"trials_wanted", facts.trials}, {"rungs", facts.rungs},
               {"epochs", EpochsOf(trials)},    {"best", nullptr},
               {"trials", Json::array()}};
  for (const TrialRow& row : rows) {
    if (row.trial == result.best) json["best"] = JsonOfRow(row);
    json["trials"].push_back(JsonOfRow(row));
  }
  return json;
}

std::string TableOf(const SearchFacts& facts, const std::vector<TrialRow>& rows,
                    size_t most) {
  std::vector<std::vector<std::string>> cells = {
      {"trial", "epochs", facts.objective}};
  for (const tune::Dimension& dimension : facts.space) {
    cells[0].push_back(dimension.name);
  }
  cells[0].emplace_back("");
  size_t shown = 0;
  for (const TrialRow& row : rows) {
    if (shown++ >= most && row.state != "runs") continue;
    cells.push_back({fmt::format("{}", row.trial),
                     fmt::format("{}/{}", row.epochs, facts.epochs),
                     ValueText(row.value)});
    for (const auto& [name, value] : row.parameters) {
      cells.back().push_back(value);
    }
    cells.back().push_back(row.state.substr(0, row.state.find(':')));
  }
  std::vector<size_t> widths(cells[0].size());
  for (const auto& row : cells) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : cells) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("  {:<{}}", row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

LiveTable::LiveTable(SearchFacts facts, bool quiet)
    : facts_(std::move(facts)),
      draws_(!quiet && runtime::RedrawsLines(STDERR_FILENO)),
      begun_(runtime::Nanoseconds()) {}

LiveTable::~LiveTable() { Erase(); }

// Up over what was drawn, and clears from there.
void LiveTable::Erase() {
  if (lines_ > 0) std::fprintf(stderr, "\x1b[%dA\r\x1b[J", lines_);
  lines_ = 0;
}

void LiveTable::Look(const tune::Record& record,
                     const std::vector<tune::Task>& running) {
  const int64_t now = runtime::Nanoseconds();
  if (!draws_ || now - drawn_ < kRedrawNanoseconds) return;
  drawn_ = now;
  const std::vector<tune::TrialRecord> trials = record.trials();
  std::string text =
      fmt::format("  tune      {} of {} trials, {} epochs, {}\n", trials.size(),
                  facts_.trials, EpochsOf(trials),
                  train::ClockTime(static_cast<double>(now - begun_) * 1e-9));
  text += TableOf(facts_, RowsOf(facts_, trials, running), kShownTrials);
  const size_t columns = runtime::TerminalColumns(STDERR_FILENO);
  std::string fitting;
  int lines = 0;
  for (std::string_view rest = text; !rest.empty(); ++lines) {
    const size_t end = rest.find('\n');
    const size_t most = columns == 0 ? end : std::min(end, columns - 1);
    fitting += std::string(rest.substr(0, most)) + "\n";
    rest.remove_prefix(end + 1);
  }
  Erase();
  PrintLines(stderr, fitting);
  lines_ = lines;
}

}  // namespace mxc
