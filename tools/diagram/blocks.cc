// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "tools/diagram/block_names.h"

namespace mxc {
namespace {

constexpr size_t kFewestInBlock = 3;
constexpr size_t kMostInRow = 40;  // boxes and blocks side by side in one
constexpr int kDeepest = 8;

// Neighbours in a row that have a word.
struct WordRange {
  size_t first = 0, last = 0, count = 0;
  std::string word;
  size_t size() const { return last - first + 1; }
};

class BlockFinder {
 public:
  explicit BlockFinder(Diagram& diagram) : diagram_(diagram) {
    common_ = CommonParts(diagram);
    for (const DiagramBox& box : diagram.boxes) {
      words_.push_back(WordsOfStep(box.name, common_));
    }
  }

  void Nest(const std::vector<int>& row, int parent, int depth) {
    if (depth > kDeepest) return;
    std::vector<std::vector<int>> items;  // of this level: a block, or a box
    size_t next = 0;
    const auto add_boxes_until = [&](size_t end) {
      for (; next < end; ++next) items.push_back({row[next]});
    };
    for (const WordRange& range : RangesOf(row)) {
      add_boxes_until(range.first);
      items.emplace_back(
          row.begin() + static_cast<std::ptrdiff_t>(range.first),
          row.begin() + static_cast<std::ptrdiff_t>(range.last) + 1);
      next = range.last + 1;
      titles_[items.back().front()] = range.word;
    }
    add_boxes_until(row.size());
    Place(items, parent, depth);
  }

  // Gives the boxes of a later phase the blocks of the forward phase, found by
  // the nodes that they carry on.
  void Mirror(const std::vector<int>& row, int phase_group) {
    if (blocks_of_.empty()) NoteForwardBlocks();
    std::vector<int> rest;
    std::map<int, int> mirrored;  // by the forward phase's group
    for (const int box : row) {
      const int block = ForwardBlockOf(diagram_.boxes[box].name);
      if (block < 0) {
        rest.push_back(box);
      } else {
        diagram_.boxes[box].group = MirrorOf(block, phase_group, mirrored);
      }
    }
    Nest(rest, phase_group, 0);
  }

  const NameSet& common() const { return common_; }

 private:
  void NoteForwardBlocks() {
    for (const DiagramBox& box : diagram_.boxes) {
      const bool block = box.group >= 0 && !diagram_.groups[box.group].is_phase;
      if (box.phase != Phase::kForward || !block) continue;
      for (const std::string_view part : PartsOf(box.name)) {
        blocks_of_.emplace(UserNode(part), box.group);
      }
    }
  }

  // -1: of none. "conv1_weight" belongs where "conv1" is.
  int ForwardBlockOf(std::string_view name) const {
    for (std::string_view part : PartsOf(name)) {
      if (common_.contains(part)) continue;
      part = UserNode(part);
      while (!part.empty()) {
        const auto block = blocks_of_.find(part);
        if (block != blocks_of_.end()) return block->second;
        const size_t cut = part.find_last_of("_-/.");
        part = part.substr(0, cut == std::string_view::npos ? 0 : cut);
      }
    }
    return -1;
  }

  int MirrorOf(int block, int phase_group, std::map<int, int>& mirrored) {
    if (block < 0 || diagram_.groups[block].is_phase) return phase_group;
    const auto known = mirrored.find(block);
    if (known != mirrored.end()) return known->second;
    const int parent =
        MirrorOf(diagram_.groups[block].parent, phase_group, mirrored);
    const std::string title = diagram_.groups[block].title;
    return mirrored[block] = AddGroup(title, parent);
  }

  // The words of a row that neighbours share; they do not overlap.
  std::vector<WordRange> RangesOf(const std::vector<int>& row) const {
    constexpr size_t kWidestGap = 2;
    std::vector<WordRange> found;
    std::map<std::string_view, size_t> latest;  // range of each word
    for (size_t i = 0; i < row.size(); ++i) {
      std::set<std::string_view> once;
      for (const std::string& word : words_[row[i]]) {
        if (!once.insert(word).second) continue;
        const auto [at, is_new] = latest.try_emplace(word, found.size());
        if (is_new || i - found[at->second].last > kWidestGap) {
          at->second = found.size();
          found.push_back({i, i, 0, word});
        }
        found[at->second].last = i;
        ++found[at->second].count;
      }
    }
    std::vector<WordRange> candidates;
    for (WordRange& range : found) {
      const bool close = range.count * 5 >= range.size() * 4;
      const bool part = range.size() * 4 < row.size() * 3;
      if (close && part && range.count >= kFewestInBlock) {
        candidates.push_back(std::move(range));
      }
    }
    std::ranges::stable_sort(
        candidates, [](const WordRange& a, const WordRange& b) {
          return std::pair(b.size(), a.first) < std::pair(a.size(), b.first);
        });
    std::map<size_t, WordRange> taken;  // by their first; they do not overlap
    for (WordRange& range : candidates) {
      const auto behind = taken.upper_bound(range.last);
      const bool free = behind == taken.begin() ||
                        std::prev(behind)->second.last < range.first;
      if (free) taken.emplace(range.first, std::move(range));
    }
    std::vector<WordRange> ranges;
    for (auto& [first, range] : taken) ranges.push_back(std::move(range));
    return ranges;
  }

  // Gives the items their group, in stretches where there are too many.
  void Place(const std::vector<std::vector<int>>& items, int parent,
             int depth) {
    if (items.size() <= kMostInRow) {
      for (const auto& item : items) PlaceItem(item, parent, depth);
      return;
    }
    const size_t stretches = std::max<size_t>(
        2, std::min(kMostInRow / 2, items.size() / kMostInRow + 3));
    for (size_t s = 0; s < stretches; ++s) {
      const auto at = [&](size_t k) {
        return items.begin() +
               static_cast<std::ptrdiff_t>(items.size() * k / stretches);
      };
      const std::vector<std::vector<int>> stretch(at(s), at(s + 1));
      const std::string title =
          fmt::format("{} to {}", NumberOf(stretch.front().front()),
                      NumberOf(stretch.back().back()));
      Place(stretch, AddGroup(title, parent), depth + 1);
    }
  }

  void PlaceItem(const std::vector<int>& item, int parent, int depth) {
    if (item.size() == 1) {
      diagram_.boxes[item.front()].group = parent;
      return;
    }
    const int group = AddGroup(titles_.at(item.front()), parent);
    for (const int box : item) {
      std::erase(words_[box], diagram_.groups[group].title);
    }
    Nest(item, group, depth + 1);
  }

  int AddGroup(const std::string& title, int parent) {
    diagram_.groups.push_back({.title = title, .parent = parent});
    return static_cast<int>(diagram_.groups.size()) - 1;
  }

  int NumberOf(int box) const {
    const int step = diagram_.boxes[box].step;
    return step >= 0 ? step : box;
  }

  Diagram& diagram_;
  NameSet common_;
  std::vector<std::vector<std::string>> words_;  // by box; what is left of them
  std::map<int, std::string> titles_;            // by a block's first box
  std::map<std::string, int, std::less<>> blocks_of_;  // by a forward node
};

}  // namespace

void AddBlocks(Diagram& diagram) {
  BlockFinder finder(diagram);
  for (const Phase phase :
       {Phase::kForward, Phase::kBackward, Phase::kUpdate}) {
    std::vector<int> row;
    for (size_t b = 0; b < diagram.boxes.size(); ++b) {
      const DiagramBox& box = diagram.boxes[b];
      const bool outside = box.kind == DiagramBox::Kind::kInput ||
                           box.kind == DiagramBox::Kind::kOutput;
      if (box.phase == phase && !outside) row.push_back(static_cast<int>(b));
    }
    if (row.empty()) continue;
    int parent = -1;
    if (diagram.trains) {
      parent = static_cast<int>(diagram.groups.size());
      diagram.groups.push_back({.title = PhaseName(phase), .is_phase = true});
    }
    if (phase == Phase::kForward) {
      finder.Nest(row, parent, 0);
    } else {
      finder.Mirror(row, parent);
    }
  }
  for (DiagramBox& box : diagram.boxes) {
    box.short_name = ShortName(diagram, box, finder.common());
  }
}

}  // namespace mxc
