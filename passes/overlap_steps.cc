// SPDX-License-Identifier: Apache-2.0
// overlap-steps: what may run beside other steps does, such as a copy between
// the host and a device.
//
//   a = conv(x)               a = conv(x)
//   b = exp(x)                start a' = copy(a)
//   c = log(b)          ⇒     b = exp(x)
//   a' = copy(a)              c = log(b)
//   d = potrf(a')             wait a'
//                             d = potrf(a')
//
// A step starts when its inputs are final and is waited for by the first reader
// of an output, or where an input is written again; nobody reads it: at the end.
// One that is not pure starts after those before it that are not, and is waited
// for by the next that must not run beside others. The step itself cannot be
// moved so: all its operands live from one end to the other, and nobody else
// takes their bytes.
//
// Runs when all aliases are settled. Not where memory has a budget: it lets
// buffers live longer.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

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
        before_(program.steps.size() + 1) {
    for (int s = 0; s < count_; ++s) {
      const Step& step = program.steps[s];
      for (const int b : step.operands()) Note(uses_[program.Root(b)].all, s);
      for (const int b : step.outputs) Note(uses_[program.Root(b)].writes, s);
      if (!step.body.pure() && !step.body.beside()) fixed_.push_back(s);
    }
  }

  bool Run() {
    bool changed = false;
    for (int s = 0; s < count_; ++s) {
      const Step& step = program_.steps[s];
      const bool pure = step.body.pure();
      const std::optional<Span> span =
          step.body.beside() ? SpanOf(step, s) : std::nullopt;
      if (!pure) ordered_ = span ? span->start : s + 1;
      if (!span) continue;
      Split(s, *span);
      changed = true;
    }
    if (changed) Rebuild();
    return changed;
  }

 private:
  // The steps before which one starts and is waited for.
  struct Span {
    int start, wait;
  };
  // What stands before a step from now on.
  struct Before {
    std::vector<Step> waits, starts;
  };

  static void Note(std::vector<int>& steps, int s) {
    if (steps.empty() || steps.back() != s) steps.push_back(s);
  }

  // Nothing if other steps could not run meanwhile.
  std::optional<Span> SpanOf(const Step& step, int s) const {
    if (!std::ranges::all_of(step.outputs,
                             [&](int b) { return IsFirstUse(b, s); })) {
      return std::nullopt;
    }
    Span span = step.body.pure()
                    ? Span{0, count_}
                    : Span{ordered_, FirstAfter(fixed_, s, count_)};
    for (const int b : step.inputs) {
      const int root = program_.Root(b);
      const std::vector<int>& writes = uses_[root].writes;
      const auto written = std::ranges::lower_bound(writes, s);
      const int last = written == writes.begin() ? -1 : *std::prev(written);
      span.start = std::max({span.start, last + 1, waits_[root]});
      span.wait = std::min(span.wait, FirstAfter(writes, s, count_));
    }
    for (const int b : step.outputs) {
      span.wait = std::min(span.wait, FirstAfter(uses_[b].all, s, count_));
    }
    if (RunsMeanwhile(span.start, s) || RunsMeanwhile(s + 1, span.wait)) {
      return span;
    }
    return std::nullopt;
  }

  bool IsFirstUse(int buffer, int s) const {
    const Buffer& b = program_.buffers[buffer];
    return b.kind == BufferKind::kInternal && b.alias_of < 0 &&
           uses_[buffer].all.front() == s;
  }

  // Returns whether steps [first, end) take any time.
  bool RunsMeanwhile(int first, int end) const {
    for (int s = first; s < end; ++s) {
      const Step& step = program_.steps[s];
      if (!step.view && !step.body.beside()) return true;
    }
    return false;
  }

  // The step itself is empty afterwards.
  void Split(int s, const Span& span) {
    Step begin = std::exchange(program_.steps[s], {});
    Step end = begin;
    begin.name += "/start";
    begin.body = Start{std::move(begin.body)};
    for (int& b : begin.outputs) {
      waits_[b] = span.wait;
      b = Begun(b);
    }
    end.name += "/wait";
    end.inputs = begin.operands();
    end.body = Wait();
    before_[span.start].starts.push_back(std::move(begin));
    before_[span.wait].waits.push_back(std::move(end));
    moved_.insert(s);
  }

  // What holds the value of `buffer` until the wait for it.
  int Begun(int buffer) {
    Buffer begun = program_.buffers[buffer];
    begun.name += "/begun";
    program_.buffers.push_back(std::move(begun));
    const int pending = static_cast<int>(program_.buffers.size()) - 1;
    aliases_.emplace_back(buffer, pending);
    return pending;
  }

  void Rebuild() {
    for (const auto& [buffer, pending] : aliases_) {
      program_.buffers[buffer].alias_of = pending;
    }
    std::vector<Step> steps;
    for (int s = 0; s <= count_; ++s) {
      std::ranges::move(before_[s].waits, std::back_inserter(steps));
      std::ranges::move(before_[s].starts, std::back_inserter(steps));
      if (s == count_ || moved_.contains(s)) continue;
      steps.push_back(std::move(program_.steps[s]));
    }
    program_.steps = std::move(steps);
  }

  Program& program_;
  const int count_;
  std::vector<RootUses> uses_;  // by root, of the steps as they came
  std::vector<int> waits_;  // by buffer that is waited for: before which step
  std::vector<int> fixed_;  // not pure, and must not run beside others
  int ordered_ = 0;         // what is not pure starts here or later
  std::vector<Before> before_;                // by step
  std::set<int> moved_;                       // steps that were split
  std::vector<std::pair<int, int>> aliases_;  // waited for, begun
};

}  // namespace

Result<bool> OverlapSteps(Program& program, PassContext& context) {
  if (context.training != nullptr && context.training->memory_budget) {
    return false;
  }
  return Overlap(program).Run();
}

}  // namespace mxc
