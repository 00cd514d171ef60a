// SPDX-License-Identifier: Apache-2.0
// What training begins with where it does not go on from a checkpoint.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/formats/array.h"
#include "runtime/formats/updater_states.h"
#include "runtime/train/status.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// Parameters and auxiliary states by name (with "arg:" and "aux:" or without),
// converted to their types. What the arrays lack stays as it is. Refuses arrays
// of which none is the network's and, unless `leave_unfit`, those of other
// shapes. Returns sentences about what was not taken and what stays.
StatusOr<std::vector<std::string>> LoadParameters(
    std::span<const runtime::NamedArray> arrays, TrainStep& step,
    bool leave_unfit = false);

// The optimizer's states of one of MXNet's .states files, by index or name.
// Refuses a file that lacks a state or has one of another form, shape or type,
// and then changes nothing. Counters of updates begin anew, as MXNet's do.
Status LoadUpdaterStates(const runtime::UpdaterStates& updater,
                         TrainStep& step);

// Parameters anew, by ParameterInitializer.
Status InitializeParameters(std::string_view how, uint64_t seed,
                            TrainStep& step);

}  // namespace mxc::train
