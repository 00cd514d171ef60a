// SPDX-License-Identifier: Apache-2.0
#include "passes/eviction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "passes/state_order.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// What is smaller is not worth looking at.
constexpr int64_t kLeastBytes = 4096;
// So many times the program's steps, and it is given up.
constexpr size_t kMostGrowth = 4;
// What is dropped and made of a value, directly or not, as far as it is followed.
constexpr size_t kMostDropped = 32;
constexpr int kNever = std::numeric_limits<int>::max();

}  // namespace

Eviction::Eviction(const PassContext& context, const Program& program)
    : program_(program),
      writer_(program.buffers.size(), -1),
      root_(program.buffers.size()),
      values_(program.buffers.size()),
      evictable_(program.buffers.size(), false) {
  for (size_t b = 0; b < root_.size(); ++b) root_[b] = static_cast<int>(b);
  double time = 0;
  const auto internal = [&](int b) {
    return program.buffers[b].kind == BufferKind::kInternal &&
           program.buffers[b].place == kKernelPlace;
  };
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    for (const int b : step.outputs) writer_[b] = static_cast<int>(s);
    // Values that the caller or a state holds are there for good.
    if (step.view && internal(step.outputs[0])) {
      root_[step.outputs[0]] = root_[step.inputs[0]];
    }
    for (const int b : step.inputs) {
      std::vector<int>& uses = values_[root_[b]].uses;
      if (uses.empty() || uses.back() != static_cast<int>(s)) {
        uses.push_back(static_cast<int>(s));
      }
    }
    pairs_.push_back(SharePairs(program, step));
    seconds_.push_back(context.Seconds(program, step));
    clock_.push_back(time);
    time += seconds_.back();
  }
  for (size_t b = 0; b < root_.size(); ++b) {
    const int buffer = static_cast<int>(b);
    Value& value = values_[root_[b]];
    value.buffers.push_back(buffer);
    if (root_[b] != buffer || !internal(buffer) || writer_[b] < 0) continue;
    value.bytes = program.buffers[b].bytes();
    evictable_[b] =
        value.bytes >= kLeastBytes && program.steps[writer_[b]].body.pure() &&
        std::ranges::all_of(program.steps[writer_[b]].outputs, internal);
  }
}

// One run: what is in memory, and the program as far as it has been written.
class EvictionReplay {
 public:
  EvictionReplay(const Eviction& plan, int64_t bytes,
                 const EvictionPolicy& policy)
      : plan_(plan),
        program_(plan.program_),
        most_bytes_(bytes),
        policy_(policy),
        present_(program_.buffers.size(), false),
        instance_(program_.buffers.size(), -1),
        times_(program_.buffers.size(), 0),
        pins_(program_.buffers.size(), 0),
        next_use_(program_.buffers.size(), 0),
        visited_(program_.steps.size(), 0) {
    out_.program = program_;
    out_.program.steps.clear();
    for (size_t b = 0; b < present_.size(); ++b) {
      if (plan_.writer_[b] >= 0) continue;
      present_[b] = true;
      instance_[b] = static_cast<int>(b);
    }
  }

  std::optional<EvictionRun> Run() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      now_ = static_cast<int>(s);
      if (!Execute(now_, /*again=*/false)) return std::nullopt;
    }
    SortByDependencies(out_.program);
    return std::move(out_);
  }

 private:
  // The first step of the program from `horizon` on that reads the value;
  // kNever if there is none.
  int NextUse(int root, int horizon) {
    const std::vector<int>& uses = plan_.values_[root].uses;
    size_t& next = next_use_[root];
    while (next < uses.size() && uses[next] < now_) ++next;
    size_t at = next;
    while (at < uses.size() && uses[at] < horizon) ++at;
    return at < uses.size() ? uses[at] : kNever;
  }

  // The same, with those that read what has been dropped and what the value is
  // needed for to compute it again.
  int NextNeed(int root, int horizon) {
    ++visit_;
    int first = kNever;
    pending_ = {root};
    for (size_t i = 0; i < pending_.size() && i < kMostDropped; ++i) {
      const int value = pending_[i];
      first = std::min(first, NextUse(value, horizon));
      const std::vector<int>& uses = plan_.values_[value].uses;
      for (const int s : uses) {
        if (s >= now_) break;
        if (visited_[s] == visit_) continue;
        visited_[s] = visit_;
        for (const int b : program_.steps[s].outputs) {
          const int made = plan_.root_[b];
          if (plan_.evictable_[made] && !present_[made]) {
            pending_.push_back(made);
          }
        }
      }
    }
    return first;
  }

  bool Held(int root, int horizon) const {
    return policy_.held[root] >= horizon;
  }

  bool Execute(int s, bool again) {
    if (out_.program.steps.size() > kMostGrowth * program_.steps.size()) {
      return false;
    }
    const Step& step = program_.steps[s];
    if (again && UpdatesState(program_, step)) return false;
    const int horizon = again ? now_ : now_ + 1;
    for (const int b : step.inputs) ++pins_[plan_.root_[b]];
    for (const int b : MissingInputs(step)) {
      if (!present_[b] && !Execute(plan_.writer_[b], /*again=*/true)) {
        return false;
      }
    }
    for (const int b : step.outputs) ++pins_[plan_.root_[b]];
    std::vector<int> spare;
    const int64_t bytes = BytesAdded(s, horizon, spare);
    if (!MakeRoom(bytes, spare)) return false;
    Write(s, again);
    for (const std::vector<int>* buffers : {&step.inputs, &step.outputs}) {
      for (const int b : *buffers) --pins_[plan_.root_[b]];
    }
    // Whoever asked for what is computed again holds it.
    for (const std::vector<int>* buffers : {&step.inputs, &step.outputs}) {
      for (const int b : *buffers) ReleaseIfDead(plan_.root_[b], horizon);
    }
    return true;
  }

  // What takes longest first: what is computed meanwhile is not in memory then,
  // and little waits for what comes last.
  std::vector<int> MissingInputs(const Step& step) {
    std::vector<std::pair<double, int>> missing;
    for (const int b : step.inputs) {
      if (present_[b]) continue;
      missing.emplace_back(-SecondsAgain(plan_.writer_[b]), b);
    }
    std::ranges::sort(missing);
    std::vector<int> buffers;
    for (const auto& [seconds, buffer] : missing) buffers.push_back(buffer);
    return buffers;
  }

  // New outputs, but for those that take the bytes of an input that nothing
  // needs any more. `spare`: inputs that only dropped values would need, whose
  // bytes other outputs can take.
  int64_t BytesAdded(int s, int horizon, std::vector<int>& spare) {
    const Step& step = program_.steps[s];
    if (step.view) return 0;
    int64_t bytes = 0;
    for (const int b : step.outputs) bytes += plan_.values_[b].bytes;
    std::vector<int> taken;  // inputs' roots and outputs
    for (const SharePair& pair : plan_.pairs_[s]) {
      const int root = plan_.root_[pair.input];
      const bool ends = pins_[root] == 1 && !Held(root, horizon) &&
                        NextUse(root, horizon) == kNever;
      if (!ends || plan_.values_[root].bytes == 0) continue;
      if (std::ranges::count(taken, root) > 0) continue;
      if (std::ranges::count(taken, pair.output) > 0) continue;
      taken.insert(taken.end(), {root, pair.output});
      if (NextNeed(root, horizon) < kNever) {
        spare.push_back(root);
      } else {
        bytes -= plan_.values_[root].bytes;
      }
    }
    return bytes;
  }

  bool MakeRoom(int64_t bytes, const std::vector<int>& spare) {
    while (live_ + bytes > most_bytes_) {
      const int victim = Victim(spare);
      if (victim < 0) return false;
      Drop(victim);
    }
    return true;
  }

  int Victim(const std::vector<int>& spare) {
    int best = -1;
    double most = 0;
    for (const int root : resident_) {
      const Eviction::Value& value = plan_.values_[root];
      if (!plan_.evictable_[root]) continue;
      if (pins_[root] > 0 && std::ranges::count(spare, root) == 0) continue;
      if (Held(root, now_)) continue;
      const int need = NextNeed(root, now_);
      if (need == kNever) continue;
      const double idle = plan_.clock_[need] - plan_.clock_[now_];
      const double gain = static_cast<double>(value.bytes) *
                          std::pow(std::max(idle, 1e-9), policy_.patience) /
                          SecondsAgain(plan_.writer_[root]);
      if (gain <= most) continue;
      most = gain;
      best = root;
    }
    return best;
  }

  // The seconds that it takes to run step `s` again, with all that is missing
  // for it.
  double SecondsAgain(int s) {
    ++visit_;
    double seconds = 0;
    pending_ = {s};
    visited_[s] = visit_;
    while (!pending_.empty()) {
      const int step = pending_.back();
      pending_.pop_back();
      seconds += plan_.seconds_[step];
      for (const int b : program_.steps[step].inputs) {
        const int writer = plan_.writer_[b];
        if (present_[b] || visited_[writer] == visit_) continue;
        visited_[writer] = visit_;
        pending_.push_back(writer);
      }
    }
    return seconds;
  }

  void Write(int s, bool again) {
    Step step = program_.steps[s];
    for (int& b : step.inputs) b = instance_[b];
    for (int& b : step.outputs) {
      const int buffer = b;
      const bool kept = present_[buffer];  // beside one that is missing
      b = NewInstance(buffer);
      if (kept) continue;
      instance_[buffer] = b;
      present_[buffer] = true;
      const int64_t bytes = plan_.values_[buffer].bytes;
      if (plan_.root_[buffer] != buffer || bytes == 0) continue;
      live_ += bytes;
      resident_.push_back(buffer);
    }
    if (again) {
      step.name += "/again";
      out_.seconds += plan_.seconds_[s];
    }
    out_.program.steps.push_back(std::move(step));
  }

  int NewInstance(int buffer) {
    if (++times_[buffer] == 1) return buffer;
    Buffer copy = program_.buffers[buffer];
    copy.name += "/again";
    copy.kind = BufferKind::kInternal;  // the caller's was written before
    if (times_[buffer] > 2) copy.name += std::to_string(times_[buffer] - 1);
    out_.program.buffers.push_back(std::move(copy));
    return static_cast<int>(out_.program.buffers.size()) - 1;
  }

  void ReleaseIfDead(int root, int horizon) {
    const bool stays = pins_[root] > 0 || plan_.values_[root].bytes == 0 ||
                       Held(root, horizon) || NextNeed(root, horizon) < kNever;
    if (!stays && present_[root]) Drop(root);
  }

  void Drop(int root) {
    for (const int b : plan_.values_[root].buffers) present_[b] = false;
    live_ -= plan_.values_[root].bytes;
    std::erase(resident_, root);
  }

  const Eviction& plan_;
  const Program& program_;
  const int64_t most_bytes_;
  const EvictionPolicy& policy_;
  EvictionRun out_;
  int now_ = 0;
  int64_t live_ = 0;
  std::vector<int> resident_;      // roots in the arena
  std::vector<bool> present_;      // by buffer
  std::vector<int> instance_;      // by buffer: the one to read
  std::vector<int> times_, pins_;  // by buffer: written; by root: in use
  std::vector<size_t> next_use_;   // by root
  std::vector<int> pending_, visited_;
  int visit_ = 0;
};

std::optional<EvictionRun> Eviction::Run(int64_t bytes,
                                         const EvictionPolicy& policy) const {
  return EvictionReplay(*this, bytes, policy).Run();
}

}  // namespace mxc
