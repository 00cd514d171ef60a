// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/diagram/diagram.h"

namespace mxc {
namespace {

// What depends on a gradient belongs to the backward phase, or is an update.
void MarkReaders(Diagram& diagram,
                 const std::vector<std::vector<int>>& arrows_into) {
  for (size_t b = 0; b < diagram.boxes.size(); ++b) {
    DiagramBox& box = diagram.boxes[b];
    for (const int a : arrows_into[b]) {
      const DiagramArrow& arrow = diagram.arrows[a];
      if (arrow.gradient ||
          diagram.boxes[arrow.from].phase == Phase::kBackward) {
        box.phase = Phase::kBackward;
      }
    }
    if (box.only_updates) box.phase = Phase::kUpdate;
  }
}

// What only they read is there for their sake.
void MarkWriters(Diagram& diagram,
                 const std::vector<std::vector<int>>& readers) {
  for (size_t b = diagram.boxes.size(); b-- > 0;) {
    DiagramBox& box = diagram.boxes[b];
    if (box.phase != Phase::kForward || readers[b].empty()) continue;
    const auto is = [&](Phase phase) {
      return [&diagram, phase](int reader) {
        return diagram.boxes[reader].phase == phase;
      };
    };
    if (std::ranges::any_of(readers[b], is(Phase::kForward))) continue;
    const bool updates = std::ranges::all_of(readers[b], is(Phase::kUpdate));
    const bool input = box.kind == DiagramBox::Kind::kInput;
    box.phase = updates && input ? Phase::kUpdate : Phase::kBackward;
  }
}

}  // namespace

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kBackward:
      return "backward";
    case Phase::kUpdate:
      return "update";
    default:
      return "forward";
  }
}

void AssignPhases(Diagram& diagram) {
  std::vector<std::vector<int>> arrows_into(diagram.boxes.size());
  std::vector<std::vector<int>> readers(diagram.boxes.size());
  for (size_t a = 0; a < diagram.arrows.size(); ++a) {
    const DiagramArrow& arrow = diagram.arrows[a];
    arrows_into[arrow.to].push_back(static_cast<int>(a));
    readers[arrow.from].push_back(arrow.to);
    diagram.trains = diagram.trains || arrow.gradient;
  }
  if (!diagram.trains) return;
  MarkReaders(diagram, arrows_into);
  MarkWriters(diagram, readers);
}

}  // namespace mxc
