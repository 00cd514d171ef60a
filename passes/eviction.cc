// SPDX-License-Identifier: Apache-2.0
#include "passes/eviction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "passes/state_order.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// What is smaller is not worth looking at.
constexpr int64_t kLeastBytes = 4096;
// So many times the program's steps, and it is given up.
constexpr size_t kMostGrowth = 4;

}  // namespace

Eviction::Eviction(const PassContext& context, const Program& program)
    : program_(program),
      writer_(program.buffers.size(), -1),
      root_(program.buffers.size()),
      values_(program.buffers.size()) {
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
    value.evictable =
        value.bytes >= kLeastBytes && program.steps[writer_[b]].body.pure() &&
        std::ranges::all_of(program.steps[writer_[b]].outputs, internal);
  }
}

// One run: what is in memory, and the program as far as it has been written.
class EvictionReplay {
 public:
  EvictionReplay(const Eviction& plan, int64_t bytes, double patience)
      : plan_(plan),
        program_(plan.program_),
        most_bytes_(bytes),
        patience_(patience),
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
  const Eviction::Value& ValueOf(int buffer) const {
    return plan_.values_[plan_.root_[buffer]];
  }

  // Returns whether a step of the program from `horizon` on reads the value.
  bool NeededFrom(int root, int horizon) {
    const std::vector<int>& uses = plan_.values_[root].uses;
    size_t& next = next_use_[root];
    while (next < uses.size() && uses[next] < now_) ++next;
    size_t at = next;
    while (at < uses.size() && uses[at] < horizon) ++at;
    return at < uses.size();
  }

  bool Execute(int s, bool again) {
    if (out_.program.steps.size() > kMostGrowth * program_.steps.size()) {
      return false;
    }
    const Step& step = program_.steps[s];
    if (again && UpdatesState(program_, step)) return false;
    const int horizon = again ? now_ : now_ + 1;
    for (const int b : step.inputs) ++pins_[plan_.root_[b]];
    for (const int b : step.inputs) {
      if (!present_[b] && !Execute(plan_.writer_[b], /*again=*/true)) {
        return false;
      }
    }
    for (const int b : step.outputs) ++pins_[plan_.root_[b]];
    if (!MakeRoom(BytesAdded(s, horizon))) return false;
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

  // New outputs, but for those that take the bytes of a dying input.
  int64_t BytesAdded(int s, int horizon) {
    const Step& step = program_.steps[s];
    if (step.view) return 0;
    int64_t bytes = 0;
    for (const int b : step.outputs) bytes += plan_.values_[b].bytes;
    std::vector<int> taken;  // inputs' roots and outputs
    for (const SharePair& pair : plan_.pairs_[s]) {
      const int root = plan_.root_[pair.input];
      const bool dies = pins_[root] == 1 && !NeededFrom(root, horizon);
      if (!dies || plan_.values_[root].bytes == 0) continue;
      if (std::ranges::count(taken, root) > 0) continue;
      if (std::ranges::count(taken, pair.output) > 0) continue;
      taken.insert(taken.end(), {root, pair.output});
      bytes -= plan_.values_[root].bytes;
    }
    return bytes;
  }

  bool MakeRoom(int64_t bytes) {
    while (live_ + bytes > most_bytes_) {
      const int victim = Victim();
      if (victim < 0) return false;
      Drop(victim);
    }
    return true;
  }

  int Victim() {
    int best = -1;
    double most = 0;
    for (const int root : resident_) {
      const Eviction::Value& value = plan_.values_[root];
      if (!value.evictable || pins_[root] > 0) continue;
      if (!NeededFrom(root, now_)) continue;
      const double idle =
          plan_.clock_[value.uses[next_use_[root]]] - plan_.clock_[now_];
      const double gain = static_cast<double>(value.bytes) *
                          std::pow(std::max(idle, 1e-9), patience_) /
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
    const bool held = pins_[root] > 0 || plan_.values_[root].bytes == 0;
    if (!held && present_[root] && !NeededFrom(root, horizon)) Drop(root);
  }

  void Drop(int root) {
    for (const int b : plan_.values_[root].buffers) present_[b] = false;
    live_ -= plan_.values_[root].bytes;
    std::erase(resident_, root);
  }

  const Eviction& plan_;
  const Program& program_;
  const int64_t most_bytes_;
  const double patience_;
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

std::optional<EvictionRun> Eviction::Run(int64_t bytes, double patience) const {
  return EvictionReplay(*this, bytes, patience).Run();
}

}  // namespace mxc
