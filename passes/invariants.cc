// SPDX-License-Identifier: Apache-2.0
#include "passes/invariants.h"

#include <algorithm>

#include "ir/program/steps/repeat.h"

namespace mxc {

std::vector<bool> InvariantsOf(const Repeat& repeat, const Program& body) {
  std::vector<bool> same(body.buffers.size(), false);
  for (const int b : body.BuffersOf(BufferKind::kInput)) {
    same[b] = !repeat.sliced[b] && repeat.CarryOf(b) == nullptr;
  }
  for (const int b : body.BuffersOf(BufferKind::kConstant)) same[b] = true;
  for (const Step& step : body.steps) {
    // A step that may fail runs where it would.
    const bool fails = repeat.may_end_early() && step.body.may_fail();
    const bool leaves =
        step.body.pure() && !fails &&
        std::ranges::all_of(step.inputs, [&](int b) { return same[b]; }) &&
        std::ranges::all_of(step.outputs, [&](int b) {
          return body.buffers[b].kind == BufferKind::kInternal;
        });
    for (const int b : step.outputs) same[b] = leaves;
  }
  return same;
}

}  // namespace mxc
