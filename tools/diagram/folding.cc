// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ir/support/nearest.h"
#include "tools/diagram/diagram.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

constexpr int kMostOnScreen = 40;  // boxes of one phase
constexpr int kMostBelow = 26;     // one another, of one phase

int DepthOf(const Diagram& diagram, int group) {
  int depth = 0;
  for (int g = group; g >= 0 && !diagram.groups[g].is_phase;
       g = diagram.groups[g].parent) {
    ++depth;
  }
  return depth;
}

// The outermost folded block around a group, itself included; -1: none.
int FoldedAround(const Diagram& diagram, int group) {
  int outermost = -1;
  for (int g = group; g >= 0; g = diagram.groups[g].parent) {
    if (diagram.groups[g].folded) outermost = g;
  }
  return outermost;
}

void FoldFrom(int depth, Diagram& diagram) {
  for (size_t g = 0; g < diagram.groups.size(); ++g) {
    DiagramGroup& group = diagram.groups[g];
    group.folded =
        !group.is_phase && DepthOf(diagram, static_cast<int>(g)) >= depth;
  }
}

// Boxes that are seen in the phase that shows most.
int MostSeen(const Diagram& diagram) {
  std::map<Phase, int> boxes;
  std::set<int> folded;
  for (const DiagramBox& box : diagram.boxes) {
    const int around = FoldedAround(diagram, box.group);
    if (around < 0 || folded.insert(around).second) ++boxes[box.phase];
  }
  int most = 0;
  for (const auto& [phase, count] : boxes) most = std::max(most, count);
  return most;
}

// Boxes in the longest chain of arrows that stays within a phase: a picture is
// as high as they are.
int LongestChain(const Diagram& view) {
  std::vector<int> chain(view.boxes.size(), 1);
  std::vector<std::vector<int>> readers(view.boxes.size());
  for (const DiagramArrow& arrow : view.arrows) {
    const bool one = view.boxes[arrow.from].phase == view.boxes[arrow.to].phase;
    // Boxes stand as they run; a block that is entered again would be a ring.
    if (one && arrow.from < arrow.to) readers[arrow.from].push_back(arrow.to);
  }
  int longest = 0;
  for (size_t b = 0; b < chain.size(); ++b) {
    longest = std::max(longest, chain[b]);
    for (const int reader : readers[b]) {
      chain[reader] = std::max(chain[reader], chain[b] + 1);
    }
  }
  return longest;
}

bool FitsScreen(const Diagram& diagram) {
  return MostSeen(diagram) <= kMostOnScreen &&
         LongestChain(Folded(diagram)) <= kMostBelow;
}

// What a folded block says: which steps it holds.
std::string StepsText(const std::vector<int>& steps) {
  if (steps.empty()) return "";
  const auto count = static_cast<int>(steps.size());
  if (count == 1) return fmt::format("step {}", steps[0]);
  const bool all = steps.back() - steps.front() + 1 == count;
  return all ? fmt::format("steps {} to {}", steps.front(), steps.back())
             : fmt::format("{} of steps {} to {}", count, steps.front(),
                           steps.back());
}

}  // namespace

void FoldToScreen(Diagram& diagram) {
  int deepest = 0;
  for (size_t g = 0; g < diagram.groups.size(); ++g) {
    deepest = std::max(deepest, DepthOf(diagram, static_cast<int>(g)));
  }
  for (int depth = deepest + 1; depth >= 1; --depth) {
    FoldFrom(depth, diagram);
    if (FitsScreen(diagram)) return;
  }
}

Status Unfold(const std::vector<std::string>& blocks, Diagram& diagram) {
  std::set<std::string> wanted(blocks.begin(), blocks.end());
  std::set<std::string> missing = wanted;
  missing.erase("all");
  for (size_t g = 0; g < diagram.groups.size(); ++g) {
    bool open = wanted.contains("all");
    for (int a = static_cast<int>(g); a >= 0; a = diagram.groups[a].parent) {
      open = open || wanted.contains(diagram.groups[a].title);
    }
    missing.erase(diagram.groups[g].title);
    if (!open) continue;
    for (int a = static_cast<int>(g); a >= 0; a = diagram.groups[a].parent) {
      diagram.groups[a].folded = false;
    }
  }
  if (missing.empty()) return Done{};
  std::vector<std::string> titles;
  for (const DiagramGroup& group : diagram.groups) {
    if (!group.is_phase) titles.push_back(group.title);
  }
  std::ranges::sort(titles);
  titles.erase(std::ranges::unique(titles).begin(), titles.end());
  return UnplacedError(fmt::format(
      "no block is called '{}'; there {}", *missing.begin(),
      titles.empty() ? "are none"
                     : fmt::format("are {}", fmt::join(titles, ", "))));
}

Diagram Folded(const Diagram& diagram) {
  Diagram view = diagram;
  view.boxes.clear();
  view.arrows.clear();
  std::vector<int> seen(diagram.boxes.size());  // boxes of the view
  std::map<int, int> blocks;                    // by folded group
  std::map<int, std::vector<int>> steps;        // by box of the view
  for (size_t b = 0; b < diagram.boxes.size(); ++b) {
    const DiagramBox& box = diagram.boxes[b];
    const int around = FoldedAround(diagram, box.group);
    const auto next = static_cast<int>(view.boxes.size());
    if (around < 0) {
      seen[b] = next;
      view.boxes.push_back(box);
      continue;
    }
    const auto [block, is_new] = blocks.emplace(around, next);
    seen[b] = block->second;
    if (is_new) {
      const DiagramGroup& group = diagram.groups[around];
      view.boxes.push_back({.kind = DiagramBox::Kind::kBlock,
                            .name = group.title,
                            .short_name = group.title,
                            .phase = box.phase,
                            .group = group.parent});
    }
    if (box.step >= 0) steps[block->second].push_back(box.step);
  }
  for (const auto& [block, its] : steps) {
    view.boxes[block].step = its.front();
    view.boxes[block].detail = StepsText(its);
  }
  std::map<std::pair<int, int>, size_t> merged;
  for (const DiagramArrow& arrow : diagram.arrows) {
    const std::pair ends(seen[arrow.from], seen[arrow.to]);
    if (ends.first == ends.second) continue;
    const auto [same, is_new] = merged.emplace(ends, view.arrows.size());
    if (is_new) {
      view.arrows.push_back(arrow);
      view.arrows.back().from = ends.first;
      view.arrows.back().to = ends.second;
      continue;
    }
    DiagramArrow& one = view.arrows[same->second];
    if (one.shape != arrow.shape) one.shape.clear();
    one.again = one.again && arrow.again;
  }
  return view;
}

}  // namespace mxc
