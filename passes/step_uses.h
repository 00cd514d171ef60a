// SPDX-License-Identifier: Apache-2.0
// Which steps read and write which buffers, kept up to date while a pass
// changes the steps. Asking takes no look at other steps, so a pass that looks
// at each step once takes time in proportion to the program.
#pragma once

#include <set>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// A step keeps its number as long as this lives: one that is removed leaves an
// empty place, which reads and writes nothing, until Close. Buffers may be
// added to the program meanwhile.
class StepUses {
 public:
  explicit StepUses(Program& program);

  // The steps that read `buffer`, ascending, each once.
  const std::set<int>& ReadersOf(int buffer) const;
  // Its only reader; -1 where it has none or several.
  int OnlyReaderOf(int buffer) const;
  // The step that writes it; -1 where none does.
  int WriterOf(int buffer) const;

  static bool IsEmptyPlace(const Step& step) { return step.outputs.empty(); }

  void Replace(int s, Step step);
  void Remove(int s) { Replace(s, Step()); }
  // What reads or writes `from` does so to `to`.
  void Redirect(int from, int to);
  // Step `s` moves to just before step `before`, which comes later; what lies
  // between moves up.
  void MoveBefore(int s, int before);
  // Takes the empty places away. Step numbers change; asks nothing after that.
  void Close();

 private:
  void Enter(int s);
  void Leave(int s);

  Program& program_;
  std::vector<std::set<int>> readers_;  // by buffer
  std::vector<int> writer_;             // by buffer
};

}  // namespace mxc
