// SPDX-License-Identifier: Apache-2.0
// overlap-copies: copies between the host and a device run beside kernels.
//
//   a = conv(x)               a = conv(x)
//   b = exp(x)                start b' = copy(a)
//   c = log(b)          ⇒     b = exp(x)
//   a' = copy(a)              c = log(b)
//   d = potrf(a')             wait a'
//                             d = potrf(a')
//
// A copy starts when its source is final and is waited for by its first reader,
// or where its source is written again. The copy itself cannot be moved so: both
// its operands live from one end to the other, and nobody else takes their
// bytes.
//
// Runs when all aliases are settled. Not where memory has a budget: it lets
// buffers live longer.
#include <algorithm>
#include <utility>

#include "ir/program/steps/copy.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Steps of a root, ascending.
struct RootUses {
  std::vector<int> all, writes;
};

// The first of `steps` after `step`, or `none`.
int FirstAfter(const std::vector<int>& steps, int step, int none) {
  const auto found = std::ranges::upper_bound(steps, step);
  return found == steps.end() ? none : *found;
}

class Overlap {
 public:
  explicit Overlap(Program& program)
      : program_(program),
        count_(static_cast<int>(program.steps.size())),
        uses_(program.buffers.size()),
        waits_(program.buffers.size(), 0),
        before_(program.steps.size()) {
    for (int s = 0; s < count_; ++s) {
      const Step& step = program.steps[s];
      for (const int b : step.operands()) Note(uses_[program.Root(b)].all, s);
      for (const int b : step.outputs) Note(uses_[program.Root(b)].writes, s);
    }
  }

  bool Run() {
    bool changed = false;
    for (int s = 0; s < count_; ++s) {
      if (program_.steps[s].body.As<Copy>() != nullptr) changed |= Split(s);
    }
    if (changed) Rebuild();
    return changed;
  }

 private:
  // What stands before a step from now on.
  struct Before {
    std::vector<Step> waits, starts;
  };

  static void Note(std::vector<int>& steps, int s) {
    if (steps.empty() || steps.back() != s) steps.push_back(s);
  }

  bool Split(int s) {
    Step& copy = program_.steps[s];
    const int from = copy.inputs[0], to = copy.outputs[0];
    const RootUses& source = uses_[program_.Root(from)];
    const RootUses& target = uses_[program_.Root(to)];
    const bool free = program_.buffers[to].kind == BufferKind::kInternal &&
                      program_.buffers[to].alias_of < 0 &&
                      target.all.front() == s && target.all.back() > s;
    if (!free) return false;
    const auto written = std::ranges::lower_bound(source.writes, s);
    int start = written == source.writes.begin() ? 0 : *std::prev(written) + 1;
    start = std::max(start, waits_[program_.Root(from)]);
    const int wait = std::min(FirstAfter(target.all, s, count_),
                              FirstAfter(source.writes, s, count_));
    if (!RunsMeanwhile(start, s) && !RunsMeanwhile(s + 1, wait)) return false;
    Add(copy, start, wait);
    return true;
  }

  // Whether steps [first, end) take any time.
  bool RunsMeanwhile(int first, int end) const {
    for (int s = first; s < end; ++s) {
      const Step& step = program_.steps[s];
      if (!step.view && step.body.As<Copy>() == nullptr) return true;
    }
    return false;
  }

  void Add(Step& copy, int start, int wait) {
    const int from = copy.inputs[0], to = copy.outputs[0];
    Buffer begun = program_.buffers[to];
    begun.name += "/begun";
    program_.buffers.push_back(std::move(begun));
    const int pending = static_cast<int>(program_.buffers.size()) - 1;
    aliases_.emplace_back(to, pending);
    waits_[to] = wait;
    Step end = copy;
    end.name += "/wait";
    end.inputs = {from, pending};
    end.body = Wait();
    before_[wait].waits.push_back(std::move(end));
    Step begin = std::exchange(copy, {});
    begin.name += "/start";
    begin.outputs = {pending};
    begin.body = Start{std::move(begin.body)};
    before_[start].starts.push_back(std::move(begin));
  }

  void Rebuild() {
    for (const auto& [buffer, pending] : aliases_) {
      program_.buffers[buffer].alias_of = pending;
    }
    std::vector<Step> steps;
    for (int s = 0; s < count_; ++s) {
      for (Step& wait : before_[s].waits) steps.push_back(std::move(wait));
      for (Step& start : before_[s].starts) steps.push_back(std::move(start));
      Step& step = program_.steps[s];
      if (!step.outputs.empty()) steps.push_back(std::move(step));
    }
    program_.steps = std::move(steps);
  }

  Program& program_;
  const int count_;
  std::vector<RootUses> uses_;  // by root, of the steps as they came
  std::vector<int> waits_;  // by buffer that is waited for: before which step
  std::vector<Before> before_;                // by step
  std::vector<std::pair<int, int>> aliases_;  // waited for, begun
};

}  // namespace

Result<bool> OverlapCopies(Program& program, PassContext& context) {
  if (context.training != nullptr && context.training->memory_budget) {
    return false;
  }
  return Overlap(program).Run();
}

}  // namespace mxc
