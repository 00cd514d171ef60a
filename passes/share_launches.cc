// SPDX-License-Identifier: Apache-2.0
// share-launches: a device is told at once to run what it can run at once.
//
//   gw = contraction x, gy              launch
//   gx = contraction gy, w        ⇒       gw = contraction x, gy
//                                         gx = contraction gy, w
//
//   m[c] = Σ x[n, c] / N                launch
//   y = x − m[c]                  ⇒       m[c] = Σ x[n, c] / N
//                                         y = x − m[c]
//
// A step goes up to the last launch that it does not depend on; or into the one
// that it depends on, if each block of threads can wait for itself alone. The
// catalog knows what can (KernelCatalog::RunsAtOnce). A step that overwrites what
// others of the launch read gets bytes of its own. What a step writes lives
// longer then, so the peak of memory is watched: it stays.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "ir/program/in_place.h"
#include "ir/program/memory.h"
#include "ir/program/steps/launch.h"
#include "passes/live_bytes.h"
#include "passes/passes.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// Launches that a step may go up, and steps of one.
constexpr size_t kMostUp = 6, kMostInLaunch = 6;

// Steps that run at once, or one that does something else.
struct Moment {
  std::vector<const Step*> steps;
  int number = 0;               // of the first one
  bool joins = false;           // others may join it
  bool fence = false;           // none passes it
  std::set<int> reads, writes;  // roots
  std::set<int> views;          // named here, without a write
};

class Sharing {
 public:
  Sharing(Program& program, const KernelCatalog& catalog)
      : program_(program),
        catalog_(catalog),
        used_(program.buffers.size()),
        members_(program.buffers.size()),
        bytes_(static_cast<int>(program.steps.size())) {
    for (size_t s = 0; s < program.steps.size(); ++s) {
      for (const int b : program.steps[s].operands()) {
        LiveRange& used = used_[b];
        if (used.first < 0) used.first = static_cast<int>(s);
        used.last = static_cast<int>(s);
      }
    }
    for (size_t b = 0; b < members_.size(); ++b) {
      const int buffer = static_cast<int>(b);
      members_[program.Root(buffer)].push_back(buffer);
    }
    for (size_t b = 0; b < members_.size(); ++b) Count(static_cast<int>(b), 1);
    most_bytes_ = bytes_.Largest();
    for (const Step& step : program.steps) {
      if (step.map() != nullptr || step.contraction() != nullptr) continue;
      for (const int b : step.operands()) tied_.insert(program.Root(b));
    }
  }

  bool Run() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Moment moment = MomentOf(program_.steps[s], static_cast<int>(s));
      if (moment.joins && (GoUp(moment) || GoUpApart(moment))) continue;
      moments_.push_back(std::move(moment));
    }
    if (moments_.size() == program_.steps.size()) return false;
    std::vector<Step> steps;
    for (const Moment& moment : moments_) steps.push_back(StepOf(moment));
    program_.steps = std::move(steps);
    return true;
  }

 private:
  void Count(int root, int times) {
    if (program_.buffers[root].kind != BufferKind::kInternal) return;
    LiveRange live;
    for (const int b : members_[root]) {
      const LiveRange& used = used_[b];
      if (used.first < 0) continue;
      live.first =
          live.first < 0 ? used.first : std::min(live.first, used.first);
      live.last = std::max(live.last, used.last);
    }
    if (live.first < 0) return;
    bytes_.Add(live.first, live.last,
               times * AlignedBytes(program_.buffers[root].bytes()));
  }

  Moment MomentOf(const Step& step, int number) const {
    Moment moment;
    moment.steps = {&step};
    moment.number = number;
    const bool nothing = step.view || IsInPlace(program_, step);
    for (const int b : step.inputs) moment.reads.insert(program_.Root(b));
    for (const int b : step.outputs) {
      const int root = program_.Root(b);
      if (step.view && moment.reads.contains(root)) {
        moment.views.insert(b);
      } else {
        moment.writes.insert(root);
      }
    }
    moment.fence = !step.body.pure() || step.body.beside() ||
                   step.body.places() != Places::kDevice;
    moment.joins = !moment.fence && !nothing &&
                   (step.map() != nullptr || step.contraction() != nullptr) &&
                   HasWholeOperands(step);
    return moment;
  }

  // Operands of equal roots are the same bytes.
  bool HasWholeOperands(const Step& step) const {
    return std::ranges::all_of(step.operands(), [&](int b) {
      return program_.BytesIntoRoot(b) == 0 &&
             program_.buffers[b].reach_bytes() <=
                 program_.buffers[program_.Root(b)].reach_bytes();
    });
  }

  static bool Meet(const std::set<int>& a, const std::set<int>& b) {
    return std::ranges::any_of(a, [&](int x) { return b.contains(x); });
  }

  bool DependsOn(const Moment& later, const Moment& earlier) const {
    if (Meet(later.reads, earlier.writes) ||
        Meet(later.writes, earlier.writes) ||
        Meet(later.writes, earlier.reads)) {
      return true;
    }
    return std::ranges::any_of(later.steps[0]->inputs, [&](int b) {
      return earlier.views.contains(b);
    });
  }

  bool GoUp(const Moment& moment) {
    size_t up = 0;
    for (size_t m = moments_.size(); m-- > 0 && up < kMostUp;) {
      Moment& earlier = moments_[m];
      if (earlier.fence) return false;
      if (earlier.joins) ++up;
      if (earlier.joins && JoinTo(earlier, moment)) return true;
      if (DependsOn(moment, earlier)) return false;
    }
    return false;
  }

  bool JoinTo(Moment& earlier, const Moment& moment) {
    if (earlier.steps.size() >= kMostInLaunch) return false;
    std::vector<const Step*> steps = earlier.steps;
    steps.push_back(moment.steps[0]);
    if (!catalog_.RunsAtOnce(program_, steps)) return false;
    if (!LiveFrom(earlier.number, moment)) return false;
    earlier.steps = std::move(steps);
    earlier.reads.insert(moment.reads.begin(), moment.reads.end());
    earlier.writes.insert(moment.writes.begin(), moment.writes.end());
    return true;
  }

  // What the step writes lives from then on, unless memory does not suffice.
  bool LiveFrom(int number, const Moment& moment) {
    const auto set_all = [&](int first) {
      for (const int b : moment.steps[0]->outputs) {
        const int root = program_.Root(b);
        Count(root, -1);
        used_[b].first = first;
        Count(root, 1);
      }
    };
    set_all(number);
    if (bytes_.Largest() <= most_bytes_) return true;
    set_all(moment.number);
    return false;
  }

  // The same for a step that writes over one of its inputs: it gets other bytes.
  bool GoUpApart(Moment& moment) {
    const Step& step = *moment.steps[0];
    for (const int b : step.outputs) {
      const int over = program_.buffers[b].alias_of;
      if (!LiesOverInput(step, b) || tied_.contains(program_.Root(b))) continue;
      LetLieIn(b, -1);
      Moment apart = MomentOf(step, moment.number);
      if (GoUp(apart)) return true;
      LetLieIn(b, over);
    }
    return false;
  }

  // Returns whether the output overwrites all of an input, and is no part of
  // what others read as a whole.
  bool LiesOverInput(const Step& step, int output) const {
    const Buffer& buffer = program_.buffers[output];
    const auto is_internal = [&](int b) {
      return program_.buffers[b].kind == BufferKind::kInternal;
    };
    return is_internal(output) && is_internal(program_.Root(output)) &&
           std::ranges::find(step.inputs, buffer.alias_of) !=
               step.inputs.end() &&
           program_.BytesIntoRoot(output) == 0 && !buffer.layout.has_gaps() &&
           buffer.reach_bytes() ==
               program_.buffers[program_.Root(output)].reach_bytes();
  }

  // Makes `buffer`, and what lies in it, a part of `over`, or of nothing.
  void LetLieIn(int buffer, int over) {
    const int from = program_.Root(buffer);
    Count(from, -1);
    program_.buffers[buffer].alias_of = over;
    const int to = program_.Root(buffer);
    Count(to, -1);
    std::vector<int> members = std::move(members_[from]);
    members.insert(members.end(), members_[to].begin(), members_[to].end());
    members_[from].clear();
    members_[to].clear();
    for (const int b : members) members_[program_.Root(b)].push_back(b);
    Count(from, 1);
    Count(to, 1);
  }

  Step StepOf(const Moment& moment) const {
    if (moment.steps.size() == 1) return *moment.steps[0];
    Step whole;
    std::vector<const std::vector<std::string>*> origins;
    std::set<int> inputs, outputs;
    for (const Step* step : moment.steps) {
      origins.push_back(&step->origins);
      for (const int b : step->inputs) {
        if (!outputs.contains(b) && inputs.insert(b).second) {
          whole.inputs.push_back(b);
        }
      }
      for (const int b : step->outputs) {
        outputs.insert(b);
        whole.outputs.push_back(b);
      }
    }
    SetOrigins(origins, whole);
    if (whole.name.empty()) whole.name = moment.steps[0]->name;
    whole.loc = moment.steps[0]->loc;
    whole.body = Launch{Inside(moment, whole)};
    return whole;
  }

  std::shared_ptr<const Program> Inside(const Moment& moment,
                                        const Step& whole) const {
    auto inside = std::make_shared<Program>();
    inside->name = program_.name;
    inside->entry = program_.entry;
    inside->places[kKernelPlace].arena_bytes = inside->lower_bound_bytes =
        inside->naive_bytes = 0;
    std::vector<int> number(program_.buffers.size(), -1);
    std::vector<int> first(program_.buffers.size(), -1);  // by root
    for (const int b : whole.operands()) {
      const int own = static_cast<int>(inside->buffers.size());
      Buffer buffer = program_.buffers[b];
      buffer.kind = own < std::ssize(whole.inputs) ? BufferKind::kInput
                                                   : BufferKind::kOutput;
      buffer.constant = {};
      buffer.state = buffer.alias_of = -1;
      buffer.offset = -1;
      int& root = first[program_.Root(b)];
      if (root >= 0) buffer.alias_of = root;
      if (root < 0) root = own;
      number[b] = own;
      inside->buffers.push_back(std::move(buffer));
    }
    for (const Step* step : moment.steps) {
      Step own = *step;
      for (int& b : own.inputs) b = number[b];
      for (int& b : own.outputs) b = number[b];
      inside->steps.push_back(std::move(own));
    }
    return inside;
  }

  Program& program_;
  const KernelCatalog& catalog_;
  std::vector<LiveRange> used_;            // by buffer: steps
  std::vector<std::vector<int>> members_;  // by root: what lies in it
  LiveBytes bytes_;
  int64_t most_bytes_ = 0;
  // Roots of what other kinds of steps read and write: a carry, for one, must lie
  // where it comes from.
  std::set<int> tied_;
  std::vector<Moment> moments_;
};

}  // namespace

Result<bool> ShareLaunches(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  return Sharing(program, *context.catalog).Run();
}

}  // namespace mxc
