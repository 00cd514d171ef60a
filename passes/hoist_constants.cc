// SPDX-License-Identifier: Apache-2.0
// hoist-constants: constants in the sides of a branch become the program's own.
//
//   branch (c, x):                  branch (c, x, w, v):
//     then product(x, w = …)   ⇒      then product(x, w)
//     else product(x, v = …)          else product(x, v)
//
// They are operands then, in the layouts that the sides' kernels asked for. A
// branch holds no constants after this pass.
#include <algorithm>
#include <memory>
#include <utility>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/branch.h"
#include "passes/order_buffers.h"
#include "passes/passes.h"

namespace mxc {
namespace {

class ConstantHoisting {
 public:
  ConstantHoisting(Program& program, Step& step, Branch& branch)
      : program_(program),
        step_(step),
        branch_(branch),
        then_(*branch.then),
        otherwise_(*branch.otherwise),
        inputs_(static_cast<int>(step.inputs.size())),
        windows_(inputs_ + static_cast<int>(step.outputs.size()) -
                 Branch::kWorkspaces) {}

  bool Run() {
    Hoist(then_, otherwise_);
    Hoist(otherwise_, then_);
    if (static_cast<int>(step_.inputs.size()) == inputs_) return false;
    PutInputsFirst(then_, then_inputs_);
    PutInputsFirst(otherwise_, otherwise_inputs_);
    branch_.then = std::make_shared<const Program>(std::move(then_));
    branch_.otherwise = std::make_shared<const Program>(std::move(otherwise_));
    return true;
  }

 private:
  // From one side; the other has an operand that it does not read.
  void Hoist(Program& side, Program& other) {
    for (const int b : side.BuffersOf(BufferKind::kConstant)) {
      Buffer& inside = side.buffers[b];
      step_.inputs.push_back(static_cast<int>(program_.buffers.size()));
      Buffer& outside = program_.buffers.emplace_back(inside);
      outside.name = step_.name + "/" + outside.name;
      inside.kind = BufferKind::kInput;
      inside.constant = {};
      InputsOf(side).push_back(b);
      InputsOf(other).push_back(static_cast<int>(other.buffers.size()));
      other.buffers.push_back(inside);
    }
  }

  std::vector<int>& InputsOf(const Program& side) {
    return &side == &then_ ? then_inputs_ : otherwise_inputs_;
  }

  // `added` follow the inputs that were there.
  void PutInputsFirst(Program& side, const std::vector<int>& added) const {
    std::vector<int> order;
    for (int b = 0; b < inputs_; ++b) order.push_back(b);
    order.insert(order.end(), added.begin(), added.end());
    for (int b = inputs_; b < windows_; ++b) order.push_back(b);
    for (int b = windows_; b < static_cast<int>(side.buffers.size()); ++b) {
      if (std::ranges::count(added, b) == 0) order.push_back(b);
    }
    OrderBuffers(side, order);
  }

  Program& program_;
  Step& step_;
  Branch& branch_;
  Program then_, otherwise_;
  const int inputs_, windows_;  // operands that were there
  // By operand that is new: the buffer of the side.
  std::vector<int> then_inputs_, otherwise_inputs_;
};

}  // namespace

Result<bool> HoistConstants(Program& program, PassContext&) {
  bool changed = false;
  for (Step& step : program.steps) {
    if (Branch* branch = step.body.As<Branch>()) {
      changed |= ConstantHoisting(program, step, *branch).Run();
    }
  }
  return changed;
}

}  // namespace mxc
