// SPDX-License-Identifier: Apache-2.0
// On which stage of a pipeline each node of a network is (place-stages).
#pragma once

#include <memory>
#include <string>

#include "ir/support/result.h"
#include "tools/driver/network.h"
#include "tools/driver/progress.h"
#include "tools/driver/request.h"

namespace mxc {

inline constexpr int kMostStages = 64;
// Copies at both ends, and what lies between: as of a network card of 10 Gbit/s,
// or of two processes of one machine.
inline constexpr double kLinkBytesPerSecond = 1e9;

// "conv.*=0": a regular expression that a node's name begins with, and a stage.
Result<StagePlace> ParseStagePlace(const std::string& text);

// Fills TrainingOptions::stages and stage_of as `request.cut` says. A node is
// where the first place that matches its name has it; where there are places, or
// groups in the network (MXNet's attribute __ctx_group__, in the order in which
// they come), the others are where their inputs are. Where there are neither,
// the network is cut so that the slowest stage takes as little as it can, by
// the modelled time of each step and the bytes that cross. Equal requests are
// cut alike.
Status SettleStages(CompileRequest& request,
                    const std::shared_ptr<LoadedNetwork>& network,
                    Progress& progress);

}  // namespace mxc
