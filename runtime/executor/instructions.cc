// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/instructions.h"

#include <utility>

namespace mxc::runtime {
namespace {

using Action = Instruction::Action;

class InstructionWriter {
 public:
  explicit InstructionWriter(std::span<const mxc_step> steps) : steps_(steps) {}

  InstructionList Write() && {
    for (uint32_t row = 0; row < steps_.size(); ++row) {
      CloseBlocksAt(row);
      list_.begins.push_back(position());
      Begin(row);
    }
    CloseBlocksAt(static_cast<uint32_t>(steps_.size()));
    list_.begins.push_back(position());
    return std::move(list_);
  }

 private:
  // A block that ends before step `end`, and the instruction that leads past
  // it.
  struct Block {
    uint32_t end, instruction;
  };

  uint32_t position() const {
    return static_cast<uint32_t>(list_.instructions.size());
  }

  void Begin(uint32_t row) {
    const mxc_step& step = steps_[row];
    Action action = Action::kStep;
    if (step.kind == MXC_STEP_REPEAT) action = Action::kRepeat;
    if (step.kind == MXC_STEP_BRANCH) action = Action::kBranch;
    if (step.kind == MXC_STEP_START) action = Action::kStart;
    if (action != Action::kStep) {
      open_.push_back({row + 1 + step.body, position()});
    }
    list_.instructions.push_back({action, row, 0});
  }

  void CloseBlocksAt(uint32_t row) {
    while (!open_.empty() && open_.back().end == row) {
      const Block block = open_.back();
      open_.pop_back();
      Close(block);
    }
  }

  void Close(const Block& block) {
    const auto [action, row, unused] = list_.instructions[block.instruction];
    if (action == Action::kRepeat) {
      list_.instructions.push_back({Action::kTurn, row, block.instruction + 1});
    } else if (action == Action::kStart) {
      list_.instructions.push_back({Action::kEnd, row, 0});
    } else if (action == Action::kBranch && steps_[row].other > 0) {
      open_.push_back({block.end + steps_[row].other, position()});
      list_.instructions.push_back({Action::kJump, row, 0});
    }
    list_.instructions[block.instruction].target = position();
  }

  const std::span<const mxc_step> steps_;
  std::vector<Block> open_;
  InstructionList list_;
};

}  // namespace

InstructionList MakeInstructions(std::span<const mxc_step> steps) {
  return InstructionWriter(steps).Write();
}

}  // namespace mxc::runtime
