// SPDX-License-Identifier: Apache-2.0
#include "passes/stage_schedule.h"

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>

namespace mxc {
namespace {

// When something happens, in the order of everything.
struct Moment {
  int phase = 0;  // before the micro-batches, during, after
  int turn = 0;   // during: when the task begins
  int node = 0;   // otherwise: the node's number

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// When each stage begins what it does of each micro-batch, in units of a forward
// pass. A backward pass takes two.
class Turns {
 public:
  Turns(int stages, int parts) : parts_(parts) {
    const size_t count = static_cast<size_t>(stages) * parts;
    forward_.assign(count, kUnknown);
    backward_.assign(count, kUnknown);
    std::vector<int> next(stages, 0), free(stages, 0);
    for (size_t left = 2 * count; left > 0;) {
      for (int stage = 0; stage < stages; ++stage) {
        if (next[stage] == 2 * parts) continue;
        const auto [backward, part] = TaskOf(stages - stage, next[stage]);
        const int ready = Ready(stage, stages, backward, part);
        if (ready == kUnknown) continue;
        const int begin = std::max(ready, free[stage]);
        (backward ? backward_ : forward_)[At(stage, part)] = begin;
        free[stage] = begin + (backward ? 2 : 1);
        ++next[stage];
        --left;
      }
    }
  }

  int Of(int stage, bool backward, int part) const {
    return (backward ? backward_ : forward_)[At(stage, part)];
  }

 private:
  static constexpr int kUnknown = -1;

  size_t At(int stage, int part) const {
    return static_cast<size_t>(stage) * parts_ + part;
  }

  // The n-th task of a stage that begins with so many forward passes.
  std::pair<bool, int> TaskOf(int first, int n) const {
    first = std::min(first, parts_);
    if (n < first) return {false, n};
    const int pair = (n - first) / 2, forwards = first + pair;
    if (forwards >= parts_) return {true, n - parts_};
    return (n - first) % 2 == 0 ? std::pair{true, pair}
                                : std::pair{false, forwards};
  }

  // When what the task reads is there.
  int Ready(int stage, int stages, bool backward, int part) const {
    if (!backward) {
      if (stage == 0) return 0;
      const int before = forward_[At(stage - 1, part)];
      return before == kUnknown ? kUnknown : before + 1;
    }
    if (stage == stages - 1) return forward_[At(stage, part)] + 1;
    const int before = backward_[At(stage + 1, part)];
    return before == kUnknown ? kUnknown : before + 2;
  }

  const int parts_;
  std::vector<int> forward_, backward_;
};

class TransferOrder {
 public:
  explicit TransferOrder(const PlacedGraph& graph)
      : graph_(graph), turns_(graph.stages, PartsOf(graph)) {
    FindMoments();
    if (!IsCausal()) FollowNumbers();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const PlacedNode& node = graph_.nodes[n];
      for (const PlacedValue& input : node.inputs) {
        Need(input, node.stage, moments_[n]);
      }
    }
    const Moment end = {2, 0, static_cast<int>(graph_.nodes.size())};
    for (const auto& [value, stage] : graph_.ends) Need(value, stage, end);
  }

  std::vector<TransferEvent> EventsOf(int stage) const {
    std::vector<TransferEvent> events;
    std::map<int, size_t> received;  // by sender, of what it sends
    std::map<int, std::vector<PlacedValue>> sent;
    for (int other = 0; other < graph_.stages; ++other) {
      if (other != stage) sent[other] = Sent(other, stage);
    }
    for (const auto& [moment, sends, value, other] : Wanted(stage)) {
      if (sends) {
        events.push_back({value, other, true});
        continue;
      }
      size_t& count = received[other];
      const std::vector<PlacedValue>& list = sent[other];
      const auto at = std::ranges::find(list, value) - list.begin();
      for (; count <= static_cast<size_t>(at); ++count) {
        events.push_back({list[count], other, false});
      }
    }
    return events;
  }

 private:
  using Event = std::tuple<Moment, bool, PlacedValue, int>;

  static int PartsOf(const PlacedGraph& graph) {
    int parts = 1;
    for (const PlacedNode& node : graph.nodes) {
      parts = std::max(parts, node.part + 1);
    }
    return parts;
  }

  // A node of a micro-batch belongs to the backward pass of its stage where it
  // depends on a later stage.
  void FindMoments() {
    std::vector<int> latest;     // stage of what each depends on, of its part
    std::vector<bool> of_parts;  // whether it depends on any micro-batch
    for (const PlacedNode& node : graph_.nodes) {
      int late = node.stage;
      bool any = node.part >= 0;
      for (const PlacedValue& input : node.inputs) {
        any = any || of_parts[input.node];
        if (graph_.nodes[input.node].part == node.part) {
          late = std::max(late, latest[input.node]);
        }
      }
      latest.push_back(late);
      of_parts.push_back(any);
      const int number = static_cast<int>(moments_.size());
      if (node.part >= 0 && node.stage >= 0) {
        moments_.push_back(
            {1, turns_.Of(node.stage, late > node.stage, node.part), number});
      } else {
        moments_.push_back({any ? 2 : 0, 0, number});
      }
    }
  }

  // Returns whether whatever crosses is there when the task that reads it
  // begins. Not where layers go back to a stage that was left.
  bool IsCausal() const {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const PlacedNode& node = graph_.nodes[n];
      for (const PlacedValue& input : node.inputs) {
        const int from = graph_.nodes[input.node].stage;
        if (from == kEverywhere || from == node.stage) continue;
        if (EndOf(input) >= BeginOf(moments_[n])) return false;
      }
    }
    return true;
  }

  // Stages then wait for each other more, in an order that always does.
  void FollowNumbers() {
    for (size_t n = 0; n < moments_.size(); ++n) {
      moments_[n] = {0, 0, static_cast<int>(n)};
    }
  }

  // What a task reads is there before it begins.
  static Moment BeginOf(Moment moment) {
    if (moment.phase == 1) moment.node = -1;
    return moment;
  }

  // First at that moment.
  void Need(PlacedValue value, int stage, Moment moment) {
    const int from = graph_.nodes[value.node].stage;
    if (from == kEverywhere || stage == kEverywhere || from == stage) return;
    const auto [entry, first] = needed_.try_emplace({value, stage}, moment);
    if (!first) entry->second = std::min(entry->second, moment);
  }

  // What goes from one stage to another, in the order in which it is sent.
  std::vector<PlacedValue> Sent(int from, int to) const {
    std::vector<std::pair<Moment, PlacedValue>> sent;
    for (const auto& [transfer, moment] : needed_) {
      const auto& [value, stage] = transfer;
      if (stage == to && graph_.nodes[value.node].stage == from) {
        sent.emplace_back(EndOf(value), value);
      }
    }
    std::ranges::sort(sent);
    std::vector<PlacedValue> values;
    for (const auto& [moment, value] : sent) values.push_back(value);
    return values;
  }

  Moment EndOf(PlacedValue value) const { return moments_[value.node]; }

  // By when it sends and needs: what a task receives before what it sends.
  std::vector<Event> Wanted(int stage) const {
    std::vector<Event> events;
    for (const auto& [transfer, moment] : needed_) {
      const auto& [value, to] = transfer;
      const int from = graph_.nodes[value.node].stage;
      if (to == stage) {
        events.emplace_back(BeginOf(moment), false, value, from);
      } else if (from == stage) {
        events.emplace_back(EndOf(value), true, value, to);
      }
    }
    std::ranges::sort(events);
    return events;
  }

  const PlacedGraph& graph_;
  const Turns turns_;
  std::vector<Moment> moments_;  // by node
  std::map<std::pair<PlacedValue, int>, Moment> needed_;
};

}  // namespace

std::vector<TransferEvent> OrderTransfers(const PlacedGraph& graph) {
  return TransferOrder(graph).EventsOf(graph.stage);
}

}  // namespace mxc
