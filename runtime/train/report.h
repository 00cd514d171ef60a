// SPDX-License-Identifier: Apache-2.0
// A training run as one page that opens from a mail, years later: no file
// beside it, and readable without its script. While training goes on it asks
// the browser to read it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/train/class_section.h"
#include "runtime/train/run_settings.h"
#include "runtime/train/series.h"
#include "runtime/train/status.h"

namespace mxc::train {

struct Report {
  std::string title;
  RunSettings settings;
  // "train/loss" and "val/loss" share the chart "loss"; a name without a slash
  // has a chart of its own. What epochs ended with is in the table
  // (epoch_table.h).
  SeriesMap series;
  // Runs beside this one, by name; their curves are drawn thin.
  std::vector<std::pair<std::string, SeriesMap>> others;
  // Of the last step that was looked at: each parameter's, by name.
  std::vector<std::pair<std::string, double>> gradients;
  int64_t gradients_step = 0;
  // Of the best epoch that was validated, and of the last one, if this is another.
  std::optional<ValidatedClasses> best_classes, last_classes;
  bool live = false;
};

std::string ReportPage(const Report& report);
Status WriteReport(const std::string& path, const Report& report);

}  // namespace mxc::train
