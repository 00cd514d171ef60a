// SPDX-License-Identifier: Apache-2.0
#include "passes/memory_report.h"

#include <algorithm>

#include "passes/step_readers.h"

namespace mxc {
namespace {

// By buffer: read, and by no other steps than those that update states.
std::vector<bool> Gradients(const Program& program) {
  std::vector<bool> read(program.buffers.size(), false), other = read;
  for (const Step& step : program.steps) {
    const bool update = UpdatesState(program, step);
    for (const int b : step.inputs) {
      const int root = program.Root(b);
      read[root] = true;
      if (!update && !step.view) other[root] = true;
    }
  }
  for (size_t b = 0; b < read.size(); ++b) read[b] = read[b] && !other[b];
  return read;
}

int64_t MostLiveBytes(const Program& program,
                      const std::vector<bool>& without) {
  std::vector<int64_t> live(program.steps.size(), 0);
  const std::vector<LiveRange> ranges = LiveRanges(program);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first < 0 || without[i]) continue;
    for (int s = ranges[i].first; s <= ranges[i].last; ++s) {
      live[s] += program.buffers[i].bytes();
    }
  }
  return live.empty() ? 0 : std::ranges::max(live);
}

}  // namespace

MemoryReport ReportMemory(const Program& program) {
  MemoryReport report;
  int64_t outputs = 0;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    outputs += program.buffers[output].bytes();
  }
  for (const Step& step : program.steps) {
    report.workspace_bytes =
        std::max(report.workspace_bytes, step.scratch_bytes);
  }
  report.activation_bytes = program.arena_bytes + outputs;
  report.activation_bytes_beside_gradients =
      MostLiveBytes(program, Gradients(program)) + outputs;
  report.peak_bytes = report.activation_bytes + report.workspace_bytes;
  report.lower_bound_bytes =
      program.lower_bound_bytes + outputs + report.workspace_bytes;
  return report;
}

}  // namespace mxc
