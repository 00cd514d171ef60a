// SPDX-License-Identifier: Apache-2.0
// One backward call: goes from the heads to what they were computed from, in
// steps: parts of the tape that are programs, and functions of the user's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/autograd/autograd.h"
#include "runtime/autograd/record.h"
#include "runtime/autograd/tape_part.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

class BackwardRun {
 public:
  // `creates`: what is computed is recorded.
  BackwardRun(Autograd& autograd, const Autograd::Heads& heads, bool creates)
      : autograd_(autograd), heads_(heads), creates_(creates) {}

  Status IntoVariables(bool retain);
  StatusOr<std::vector<TrackedArray>> Of(
      std::span<const TrackedArray* const> variables, bool retain);

 private:
  using Slot = std::pair<Record*, uint32_t>;
  struct SlotHash {
    size_t operator()(const Slot& slot) const {
      return std::hash<Record*>()(slot.first) * 31 + slot.second;
    }
  };
  static Slot SlotOf(const Origin& origin) {
    return {origin.record.get(), origin.output};
  }
  // A gradient that has arrived; empty: ones.
  using Arrived = std::optional<TrackedArray>;
  // What is asked for.
  struct Target {
    Origin of;
    TrackedArray result;    // its array, where there is one to be written
    bool is_added = false;  // to what is in that
    bool is_done = false;
  };
  // One function of the user's own, or calls of one mode.
  using Step = std::vector<std::shared_ptr<Record>>;
  struct Part;

  Status TakeHeads();
  Status FindRecords();
  void FindWhatDepends();
  void FormSteps();
  Status Run(bool retain);

  Status RunCalls(size_t step);
  Status RunFunction(size_t step);
  Status RunPart(Part& part, std::vector<TrackedArray>& results);
  Status DeliverPending(size_t step);
  Status Deliver(Target& target);
  // What has arrived for a slot, as one array.
  StatusOr<TrackedArray> Sum(const Origin& of);

  Part PartOf(size_t step);
  // A part without calls, whose one leaf is the slot.
  Part PartAround(const Origin& of);
  void AddHeads(const Origin& of, Wire at, Part& part);
  StatusOr<TrackedArray> Find(const Part& part,
                              const PartGradient::Operand& operand) const;

  // The target that the slot is, null if it is none or will still be added to.
  Target* FinishedAt(const Slot& slot, size_t step);

  Autograd& autograd_;
  const Autograd::Heads heads_;
  const bool creates_;

  std::vector<std::shared_ptr<Record>> records_;  // by number
  std::vector<Target> targets_;
  std::unordered_map<Slot, size_t, SlotHash> target_of_;
  std::unordered_set<const Record*> depends_;  // on targets, or is one
  std::vector<Step> steps_;                    // by number
  // The step that is the last to add to a slot's gradient.
  std::unordered_map<Slot, size_t, SlotHash> last_reader_;
  std::unordered_map<Slot, std::vector<Arrived>, SlotHash> arrived_;
};

}  // namespace mxc::runtime
