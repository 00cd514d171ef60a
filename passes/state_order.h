// SPDX-License-Identifier: Apache-2.0
// Which steps must run before which: a step that reads a buffer runs after the
// one that writes it, and a step that writes the next value of a state runs
// after all that read the old one, views of it included.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// For each step the steps that must run before it, ascending.
std::vector<std::vector<int>> StepsBefore(const Program& program);

// Reorders the steps by StepsBefore and moves as few as possible. Such an order
// must exist.
void SortByDependencies(Program& program);

// The dependencies while it is being decided which states are written in place.
class StateOrder {
 public:
  explicit StateOrder(const Program& program);

  // Lets `writer` run after every reader of the state that `next` follows.
  // False, and nothing is changed, where a reader needs what `writer` computes
  // or `writer` itself reads a view of the state.
  bool WriteAfterReads(int next, int writer);

 private:
  const Program& program_;
  std::vector<std::vector<int>> after_;    // by step: must run later
  std::vector<std::vector<int>> readers_;  // by buffer, of it or a view of it
};

}  // namespace mxc
