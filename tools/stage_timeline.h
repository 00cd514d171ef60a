// SPDX-License-Identifier: Apache-2.0
// When each stage of a pipeline does what in a training step, by the modelled
// time of its steps: what `mxc inspect --schedule` shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/driver/plan.h"
#include "tools/terminal.h"

namespace mxc {

// Steps of one micro-batch that follow each other.
struct StageTask {
  int part = 0;
  bool forward = false, backward = false;  // both on the last stage
  double begin = 0, end = 0;               // seconds
};

struct StageView {
  // Exact: of a run as planned, of what lives from run to run, of what the caller
  // gives, and of what is sent and received in a run.
  int64_t peak_bytes = 0, state_bytes = 0, input_bytes = 0;
  int64_t sent_bytes = 0, received_bytes = 0;
  double busy_seconds = 0;
  std::vector<StageTask> tasks;
};

struct StageTimeline {
  std::vector<StageView> stages;
  double seconds = 0;  // of a training step
};

// Of the first program of each stage's plan, in their order.
StageTimeline TimelineOf(const std::vector<Plan>& plans);

void PrintTimeline(const StageTimeline& timeline);
Json TimelineToJson(const StageTimeline& timeline);
// A picture, SVG.
std::string TimelinePicture(const StageTimeline& timeline);

}  // namespace mxc
