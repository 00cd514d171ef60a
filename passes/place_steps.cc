// SPDX-License-Identifier: Apache-2.0
// place-steps: functions run on the host; what they read is brought there, and
// what they write is brought back.
//
//                               a' = copy(a)            a', c', d' lie on the
//   c = potrf(a)                c' = potrf(a')          host
//   d = trsm(c, w)        ⇒     d' = trsm(c', w')       w' is the constant w, of
//   e = exp(d)                  d  = copy(d')           which the host has the
//                               e  = exp(d)             bytes anyway
//
// Nothing changes where the target's kernels run on the host.
#include <map>
#include <utility>

#include "ir/program/steps/call.h"
#include "ir/program/steps/copy.h"
#include "passes/dead_code.h"
#include "passes/passes.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

bool RunsOnHost(const Step& step) { return step.body.As<Call>() != nullptr; }

class StepPlacement {
 public:
  explicit StepPlacement(Program& program) : program_(program) {
    const StepUses uses(program);
    for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b) {
      on_device_.push_back(IsUsedOnDevice(uses, b));
    }
  }

  bool Run() {
    std::vector<Step> steps = std::exchange(program_.steps, {});
    bool changed = false;
    for (Step& step : steps) {
      if (RunsOnHost(step)) {
        Place(std::move(step));
        changed = true;
      } else {
        program_.steps.push_back(std::move(step));
      }
    }
    if (changed) RemoveUnusedBuffers(program_);
    return changed;
  }

 private:
  // Returns whether it is the caller's, a state's or read by a kernel.
  bool IsUsedOnDevice(const StepUses& uses, int buffer) const {
    if (program_.buffers[buffer].kind != BufferKind::kInternal) return true;
    for (const int reader : uses.ReadersOf(buffer)) {
      if (!RunsOnHost(program_.steps[reader])) return true;
    }
    const int writer = uses.WriterOf(buffer);
    return writer < 0 || !RunsOnHost(program_.steps[writer]);
  }

  void Place(Step step) {
    std::vector<Step> after;
    for (int& b : step.inputs) b = ToRead(b, step);
    for (int& b : step.outputs) {
      const int device = std::exchange(b, ToWrite(b));
      if (b != device) after.push_back(CopyOf(b, device, step));
    }
    program_.steps.push_back(std::move(step));
    for (Step& copy : after) program_.steps.push_back(std::move(copy));
  }

  // A buffer of the host with the value of `buffer`.
  int ToRead(int buffer, const Step& reader) {
    const auto found = there_.find(buffer);
    if (found != there_.end()) return found->second;
    const int host = Twin(buffer);
    if (program_.buffers[host].kind != BufferKind::kConstant) {
      program_.steps.push_back(CopyOf(buffer, host, reader));
    }
    return host;
  }

  int ToWrite(int buffer) {
    if (on_device_[buffer]) return Twin(buffer);
    program_.buffers[buffer].place = program_.PlaceFor(PlaceKind::kHost);
    return there_[buffer] = buffer;
  }

  // On the host.
  int Twin(int buffer) {
    Buffer twin = program_.buffers[buffer];
    twin.name += "/host";
    twin.place = program_.PlaceFor(PlaceKind::kHost);
    twin.state = -1;
    if (twin.kind != BufferKind::kConstant) {
      twin.kind = BufferKind::kInternal;
      twin.constant = {};
    }
    program_.buffers.push_back(std::move(twin));
    return there_[buffer] = static_cast<int>(program_.buffers.size()) - 1;
  }

  Step CopyOf(int from, int to, const Step& origin) const {
    Step step;
    step.name = program_.buffers[to].name + "/copy";
    step.origins = origin.origins;
    step.loc = origin.loc;
    step.inputs = {from};
    step.outputs = {to};
    step.body = Copy();
    return step;
  }

  Program& program_;
  std::vector<bool> on_device_;  // by buffer that there was
  std::map<int, int> there_;     // buffers of the host, by those of the device
};

}  // namespace

Result<bool> PlaceSteps(Program& program, PassContext&) {
  return StepPlacement(program).Run();
}

}  // namespace mxc
