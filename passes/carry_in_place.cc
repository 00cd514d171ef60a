// SPDX-License-Identifier: Apache-2.0
// carry-in-place: what the first turn of a repeat sees lies where the turns
// leave it to each other.
//
//   h = f(x)                           h lies in last
//   last = repeat … carry h       ⇒    last = repeat … carry h
//
//   all = repeat … carry h             first = h, which lies in all
//                                 ⇒    all = repeat … carry first
//
// A stack would live from where its first slice is computed: that is copied
// when the repeat begins. So is what others read, too, or what is not the
// arena's. Within the body update-in-place has done the same.
#include <algorithm>
#include <utility>

#include "ir/program/copy_step.h"
#include "ir/program/steps/repeat.h"
#include "passes/passes.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

class CarryPlacement {
 public:
  explicit CarryPlacement(Program& program)
      : program_(program), uses_(program) {}

  bool Run() {
    bool changed = false;
    std::vector<Step> steps;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Step step = program_.steps[s];
      if (const Repeat* repeat = step.body.As<Repeat>()) {
        for (const Repeat::Carry& carry : repeat->carries) {
          Place(static_cast<int>(s), *repeat, carry, step, steps);
          changed = true;
        }
      }
      steps.push_back(std::move(step));
    }
    program_.steps = std::move(steps);
    return changed;
  }

 private:
  // Appends to `before` the steps that run before this one.
  void Place(int s, const Repeat& repeat, const Repeat::Carry& carry,
             Step& step, std::vector<Step>& before) {
    int& input = step.inputs[carry.input];
    if (repeat.sliced[carry.output] || !MayLie(s, step, input)) {
      Buffer first = program_.buffers[input];
      first.kind = BufferKind::kInternal;
      first.constant = {};
      first.alias_of = first.state = -1;
      first.alias_begin = 0;
      first.name = step.name + "/first";
      program_.buffers.push_back(std::move(first));
      const int to = static_cast<int>(program_.buffers.size()) - 1;
      before.push_back(CopyStep(program_, input, to, step.name + "/begin",
                                step.origins, step.loc));
      input = to;
    }
    program_.buffers[input].alias_of = step.operands()[carry.output];
    program_.buffers[input].alias_begin = repeat.CarryBegin(carry);
  }

  // Nobody else needs its bytes.
  bool MayLie(int s, const Step& step, int input) const {
    const Buffer& buffer = program_.buffers[input];
    const int writer = uses_.WriterOf(input);
    return buffer.kind == BufferKind::kInternal && buffer.alias_of < 0 &&
           writer >= 0 && program_.steps[writer].body.any_layout() &&
           uses_.OnlyReaderOf(input) == s &&
           std::ranges::count(step.inputs, input) == 1;
  }

  Program& program_;
  const StepUses uses_;  // of the steps as they came
};

}  // namespace

Result<bool> CarryInPlace(Program& program, PassContext&) {
  return CarryPlacement(program).Run();
}

}  // namespace mxc
