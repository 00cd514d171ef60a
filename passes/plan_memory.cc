// SPDX-License-Identifier: Apache-2.0
// plan-memory: offsets for the internal buffers, in one arena for each place.
//
//   bytes ▲  ┌────┐     ┌──────┐
//         │  │ b  │     │  d   │      A buffer needs its bytes from the step
//         │ ┌┴────┴─────┴─┐    │      that writes it to the last that reads it;
//         │ │      a      │    │      two that do not live at once may share.
//         └─┴─────────────┴────┴─► step
//
// The lower bound is the largest sum of live bytes of the same schedule.
//
// Runs last: kernels, layouts, aliases and the order of the steps are settled.
#include "ir/program/memory.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/repeat.h"
#include "passes/interval_placement.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// All that this pass decides.
std::vector<int64_t> PlanOf(const Program& program) {
  std::vector<int64_t> plan = {program.lower_bound_bytes, program.naive_bytes};
  for (const ProgramPlace& place : program.places) {
    plan.push_back(place.arena_bytes);
  }
  for (const Buffer& buffer : program.buffers) plan.push_back(buffer.offset);
  return plan;
}

// What a step needs for the programs inside of it, which are planned by now.
std::optional<int64_t> RoomInside(const Step& step) {
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    return repeat->workspace_bytes();
  }
  if (const Branch* branch = step.body.As<Branch>()) {
    return branch->workspace_bytes();
  }
  return std::nullopt;
}

bool SizeWorkspaces(Program& program) {
  bool changed = false;
  for (const Step& step : program.steps) {
    const std::optional<int64_t> room = RoomInside(step);
    if (!room) continue;
    Buffer& workspace = program.buffers[step.outputs.back()];
    const Shape needed = {*room};
    changed |= workspace.type.shape != needed;
    workspace.type.shape = needed;
    workspace.layout = Layout::RowMajor(needed);
  }
  return changed;
}

struct Arena {
  int64_t bytes = 0, lower_bound = 0, naive = 0;
};

// Offsets for the buffers of a place.
Arena PlaceIn(Place place, const std::vector<LiveRange>& live,
              Program& program) {
  Arena arena;
  std::vector<Block> blocks;
  std::vector<int> buffers;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    Buffer& buffer = program.buffers[i];
    if (buffer.place != place) continue;
    buffer.offset = -1;
    if (buffer.kind != BufferKind::kInternal) continue;
    arena.naive += AlignedBytes(buffer.bytes());
    if (buffer.alias_of >= 0 || live[i].first < 0) continue;
    blocks.push_back({buffer.bytes(), live[i].first, live[i].last});
    buffers.push_back(static_cast<int>(i));
  }
  const Placement placement = PlaceBlocks(blocks, kArenaAlignment);
  for (size_t i = 0; i < blocks.size(); ++i) {
    program.buffers[buffers[i]].offset = placement.offsets[i];
  }
  arena.bytes = placement.peak;
  arena.lower_bound = LargestLiveSum(blocks, kArenaAlignment);
  return arena;
}

}  // namespace

Result<bool> PlanMemory(Program& program, PassContext&) {
  const bool sized = SizeWorkspaces(program);
  const std::vector<int64_t> before = PlanOf(program);
  const std::vector<LiveRange> live = LiveRanges(program);
  const int64_t inside = HostBytesInside(program);
  if (inside > 0) program.PlaceFor(PlaceKind::kHost);
  for (size_t i = 0; i < program.places.size(); ++i) {
    const auto place = static_cast<Place>(i);
    const Arena arena = PlaceIn(place, live, program);
    program.places[i].arena_bytes = arena.bytes;
    if (program.places[i].kind == PlaceKind::kHost) {
      program.places[i].arena_bytes += inside;
    }
    if (place != kKernelPlace) continue;
    program.lower_bound_bytes = arena.lower_bound;
    program.naive_bytes = arena.naive;
  }
  return sized || PlanOf(program) != before;
}

}  // namespace mxc
