// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/repeat_kernel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ir/support/check.h"

namespace mxc {
namespace {

class RepeatEmitter {
 public:
  RepeatEmitter(KernelFunction& kernel, const Repeat& repeat,
                std::span<const InnerCall> calls)
      : kernel_(kernel),
        b_(kernel.b()),
        repeat_(repeat),
        body_(*repeat.body),
        calls_(calls),
        workspace_(static_cast<int>(repeat.sliced.size())),
        caller_(kernel, MostOperands(), 0) {}

  void Emit() {
    kernel_.Loop(kernel_.Int(0), kernel_.Int(repeat_.turns), 1,
                 [&](llvm::Value* turn) { EmitTurn(turn); });
  }

 private:
  size_t MostOperands() const {
    size_t most = 1;
    for (const Step& step : body_.steps) {
      most = std::max(most, step.inputs.size() + step.outputs.size());
    }
    return most;
  }

  void EmitTurn(llvm::Value* turn) {
    std::vector<llvm::Value*> places(body_.buffers.size());
    for (size_t s = 0; s < body_.steps.size(); ++s) {
      if (calls_[s].tasks == 0) continue;
      std::vector<llvm::Value*> operands;
      for (const int b : body_.steps[s].operands()) {
        const int root = body_.Root(b);
        if (places[root] == nullptr) places[root] = PlaceOf(root, turn);
        operands.push_back(
            caller_.At(places[root], kernel_.Int(body_.BytesIntoRoot(b))));
      }
      caller_.Call(calls_[s], operands);
    }
  }

  // Where a root buffer of the body lies in a turn.
  llvm::Value* PlaceOf(int buffer, llvm::Value* turn) {
    if (buffer >= workspace_) return Workspace(body_.buffers[buffer].offset);
    const Repeat::Carry* carry = repeat_.CarryOf(buffer);
    if (carry == nullptr || carry->input != buffer) {
      return OperandAt(buffer, turn);
    }
    // What the output was after the turn before.
    llvm::Value* before = b_.CreateSub(turn, kernel_.Int(1));
    return b_.CreateSelect(b_.CreateICmpEQ(turn, kernel_.Int(0)),
                           kernel_.operand(buffer),
                           OperandAt(carry->output, before));
  }

  llvm::Value* OperandAt(int operand, llvm::Value* turn) {
    llvm::Value* base = kernel_.operand(operand);
    if (repeat_.sliced[operand]) {
      llvm::Value* slice =
          repeat_.reversed ? b_.CreateSub(kernel_.Int(repeat_.turns - 1), turn)
                           : turn;
      const int64_t bytes = body_.buffers[operand].bytes();
      return caller_.At(base, b_.CreateMul(slice, kernel_.Int(bytes)));
    }
    const Repeat::Carry* carry = repeat_.CarryOf(operand);
    if (carry == nullptr || carry->output != operand) return base;
    // The last turn writes the operand, the one before it the other place.
    llvm::Value* left = b_.CreateSub(kernel_.Int(repeat_.turns - 1), turn);
    llvm::Value* odd = b_.CreateTrunc(left, b_.getInt1Ty());
    return b_.CreateSelect(odd, Workspace(repeat_.SecondPlace(operand)), base);
  }

  llvm::Value* Workspace(int64_t begin) {
    return caller_.At(kernel_.operand(workspace_), kernel_.Int(begin));
  }

  KernelFunction& kernel_;
  KernelFunction::Builder& b_;
  const Repeat& repeat_;
  const Program& body_;
  const std::span<const InnerCall> calls_;
  const int workspace_;  // the operand; the body's own buffers begin there
  InnerCaller caller_;
};

}  // namespace

KernelPlan PlanRepeat(const Program&, const Step& step,
                      std::span<const InnerCall> calls) {
  struct Kernel {
    Repeat repeat;
    std::vector<InnerCall> calls;
  };
  auto kernel = std::make_shared<Kernel>(
      Kernel{*step.body.As<Repeat>(), {calls.begin(), calls.end()}});
  MXC_CHECK(kernel->repeat.body->BuffersOf(BufferKind::kConstant).empty(),
            "constants in the body of step '{}'", step.name);
  KernelPlan plan;
  plan.what = "repeat";
  plan.tasks = 1;
  plan.scratch_bytes = ScratchOf(calls);
  plan.emit = [kernel](KernelFunction& function) {
    RepeatEmitter(function, kernel->repeat, kernel->calls).Emit();
  };
  return plan;
}

}  // namespace mxc
