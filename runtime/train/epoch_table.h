// SPDX-License-Identifier: Apache-2.0
// Writes the table of epochs of a run's report.
#pragma once

#include <string>
#include <string_view>

#include "runtime/train/series.h"

namespace mxc::train {

// What the journal notes at the end of every epoch, and no chart shows.
inline constexpr std::string_view kEpochGroup = "epochs/";

// An HTML table with a row for each of the last epochs: its step, loss and
// metrics, those of validation, the rate, how fast it was, how long it took and
// when it ended. Empty where no epoch has ended.
std::string EpochTable(const SeriesMap& series);

}  // namespace mxc::train
