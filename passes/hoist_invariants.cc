// SPDX-License-Identifier: Apache-2.0
// hoist-invariants: what every turn of a repeat would compute again leaves it.
//
//   repeat 50:                      p = pack(w)
//     p = pack(w)               ⇒   repeat 50:
//     y = product(x, p)               y = product(x, p)
//
// Steps of the body whose inputs are the same in every turn run before it, and
// constants of the body become the program's own; both are operands of the
// repeat then, in the layouts that the body's kernels asked for. A repeat holds
// no constants after this pass.
#include <algorithm>
#include <utility>

#include "ir/program/steps/repeat.h"
#include "passes/invariants.h"
#include "passes/order_buffers.h"
#include "passes/passes.h"

namespace mxc {
namespace {

class Hoisting {
 public:
  Hoisting(Program& program, Step& step)
      : program_(program),
        step_(step),
        repeat_(*step.body.As<Repeat>()),
        body_(*repeat_.body),
        same_(InvariantsOf(repeat_, body_)),
        outside_(body_.buffers.size(), kNowhere) {}

  // True if something leaves the body; what runs before the step is appended to
  // `before`.
  bool Run(std::vector<Step>& before) {
    for (size_t i = 0; i < inputs(); ++i) outside_[i] = step_.inputs[i];
    std::vector<Step> kept;
    for (Step& inner : body_.steps) {
      if (same_[inner.outputs[0]]) {
        before.push_back(Outside(std::move(inner)));
      } else {
        kept.push_back(std::move(inner));
      }
    }
    body_.steps = std::move(kept);
    const bool fewer = body_.steps.size() != repeat_.body->steps.size();
    return ChangeOperands() || fewer;
  }
  // The step as it is then.
  Step TakeStep() { return std::move(hoisted_); }

 private:
  static constexpr int kNowhere = -1;

  size_t inputs() const { return step_.inputs.size(); }

  int OutsideOf(int b) {
    if (outside_[b] == kNowhere) {
      Buffer buffer = body_.buffers[b];
      buffer.name = step_.name + "/" + buffer.name;
      outside_[b] = static_cast<int>(program_.buffers.size());
      program_.buffers.push_back(std::move(buffer));
    }
    return outside_[b];
  }

  Step Outside(Step inner) {
    for (int& b : inner.inputs) b = OutsideOf(b);
    for (int& b : inner.outputs) b = OutsideOf(b);
    inner.name = step_.name + "/" + inner.name;
    inner.origins = step_.origins;
    inner.backward = step_.backward;
    inner.loc = step_.loc;
    return inner;
  }

  // The operands are those that the body still uses.
  bool ChangeOperands() {
    std::vector<bool> used(body_.buffers.size(), false);
    for (const Step& inner : body_.steps) {
      for (const int b : inner.operands()) used[b] = true;
    }
    std::vector<int> order;
    Step step = step_;
    Repeat repeat = repeat_;
    step.inputs.clear();
    repeat.sliced.clear();
    const auto add_input = [&](int b, int outside, bool sliced) {
      order.push_back(b);
      step.inputs.push_back(outside);
      repeat.sliced.push_back(sliced);
      Buffer& buffer = body_.buffers[b];
      if (buffer.kind == BufferKind::kState) return;
      buffer.kind = BufferKind::kInput;
      buffer.constant = {};
    };
    const int windows = static_cast<int>(repeat_.sliced.size());
    const int first_output = static_cast<int>(inputs());
    for (int b = 0; b < first_output; ++b) {
      if (used[b] || b == repeat_.count || repeat_.CarryOf(b) != nullptr) {
        add_input(b, step_.inputs[b], repeat_.sliced[b]);
      }
    }
    for (int b = windows; b < static_cast<int>(body_.buffers.size()); ++b) {
      if (used[b] && same_[b]) add_input(b, OutsideOf(b), false);
    }
    for (int b = first_output; b < windows; ++b) {
      order.push_back(b);
      repeat.sliced.push_back(repeat_.sliced[b]);
    }
    for (int b = windows; b < static_cast<int>(body_.buffers.size()); ++b) {
      if (used[b] && !same_[b]) order.push_back(b);
    }
    const auto renumber = [&](int& operand) {
      if (operand < 0) return;
      const auto at = std::ranges::find(order, operand);
      operand = static_cast<int>(at - order.begin());
    };
    renumber(repeat.condition);
    renumber(repeat.count);
    for (Repeat::Carry& carry : repeat.carries) {
      renumber(carry.input);
      renumber(carry.output);
    }
    const bool changed = step.inputs != step_.inputs;
    OrderBuffers(body_, order);
    repeat.body = std::make_shared<const Program>(std::move(body_));
    step.body = std::move(repeat);
    hoisted_ = std::move(step);
    return changed;
  }

  Program& program_;
  const Step& step_;
  const Repeat& repeat_;
  Program body_;
  const std::vector<bool> same_;  // in every turn, by buffer of the body
  // By buffer of the body: what the program has it in.
  std::vector<int> outside_;
  Step hoisted_;
};

}  // namespace

Result<bool> HoistInvariants(Program& program, PassContext&) {
  bool changed = false;
  std::vector<Step> steps;
  for (Step& step : program.steps) {
    if (step.body.As<Repeat>() != nullptr) {
      Hoisting hoisting(program, step);
      if (hoisting.Run(steps)) {
        changed = true;
        step = hoisting.TakeStep();
      }
    }
    steps.push_back(std::move(step));
  }
  program.steps = std::move(steps);
  return changed;
}

}  // namespace mxc
