// SPDX-License-Identifier: Apache-2.0
// The steps of an entry as a list that is walked with one position: blocks have
// become jumps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi/abi.h"

namespace mxc::runtime {

// What there is to do at a position of the list.
struct Instruction {
  enum class Action : uint8_t {
    kStep,    // runs a step; go on
    kRepeat,  // begins a repeat; no turns: go to `target`, behind it
    kTurn,    // ends a turn of it; one more: go to `target`, its body
    kBranch,  // not taken: go to `target`, its other steps
    kJump,    // go to `target`, behind a branch
    kStart,   // what follows runs beside the rest
    kEnd      // until here
  };
  Action action = Action::kStep;
  uint32_t step = 0;  // row within the entry
  uint32_t target = 0;
};

struct InstructionList {
  std::vector<Instruction> instructions;
  // Where each step begins, and where the last one ends.
  std::vector<uint32_t> begins;
};

// `steps` are checked ones.
InstructionList MakeInstructions(std::span<const mxc_step> steps);

}  // namespace mxc::runtime
