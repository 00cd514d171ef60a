// SPDX-License-Identifier: Apache-2.0
// recompute: what the backward part needs again of the forward part is computed
// again where that costs next to nothing, or as far as a memory budget asks.
//
//   x = conv(d)                        x = conv(d)
//   y = relu(norm(x))                  y = relu(norm(x))
//   z = conv(y)         y lives   ⇒    z = conv(y)              y dies
//   …                   to the end     …
//   dw = conv'(y, dz)                  y' = relu(norm(x))
//                                      dw = conv'(y', dz)
//
// A forward step that is recomputed has one clone, placed before the first
// backward step that needs it, together with the clones that it needs itself.
//
// Without a budget, recomputed is what costs about as much as reading it, from
// values that are kept anyway, in chains of no more than a few steps. With one,
// the forward part is cut in segments (Chen et al., Training Deep Nets with
// Sublinear Memory Cost, 2016): what crosses a cut is kept, the rest is
// recomputed but what costs most for its bytes (the trade that Checkmate, Jain
// et al. 2020, optimises exactly). Segment lengths and that price are searched;
// every candidate is replayed, and the cheapest that fits is taken.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/schedule.h"
#include "passes/state_order.h"

namespace mxc {
namespace {

constexpr double kUnitsPerSecond = 1e10;  // of evaluation_cost.h
constexpr double kFlopsPerSecond = 1e11;  // of a contraction, on one core
// Work for each byte of the result, in units: a handful of operations for each
// float beside reading and writing it.
constexpr double kNextToNothing = 6;
constexpr int64_t kWorthwhileBytes = 4096;

class Forward {
 public:
  explicit Forward(const Program& program)
      : program_(program),
        steps_(static_cast<int>(program.steps.size())),
        writer_(program.buffers.size(), -1),
        forward_(program.steps.size(), false),
        needed_(program.buffers.size(), false) {
    for (int s = 0; s < steps_; ++s) {
      for (const int b : program.steps[s].outputs) writer_[b] = s;
    }
    MarkForward();
    for (int s = 0; s < steps_; ++s) {
      if (!backward(s)) continue;
      for (const int b : program.steps[s].inputs) needed_[b] = Made(b);
    }
  }

  int steps() const { return steps_; }
  bool forward(int step) const { return forward_[step]; }
  // After the forward part; a moving statistic that is updated within it is
  // neither.
  bool backward(int step) const {
    return step > last_forward_ && !forward_[step];
  }
  int writer(int buffer) const { return writer_[buffer]; }
  // Written by a forward step, into the arena.
  bool Made(int buffer) const {
    return writer_[buffer] >= 0 && forward_[writer_[buffer]] &&
           program_.buffers[buffer].kind == BufferKind::kInternal;
  }
  // Read by a backward step.
  bool needed(int buffer) const { return needed_[buffer]; }

  double Seconds(int step) const {
    const Step& s = program_.steps[step];
    if (s.view) return 0;
    double seconds = 0;
    if (s.contraction()) {
      seconds = static_cast<double>(s.flops(program_)) / kFlopsPerSecond;
    } else {
      for (const Store& store : s.map()->stores) {
        seconds += HoistedCost(store) / kUnitsPerSecond;
      }
    }
    return seconds + kStepCost / kUnitsPerSecond;
  }
  int64_t Bytes(int step) const {
    int64_t bytes = 0;
    for (const int b : program_.steps[step].outputs) {
      if (Made(b)) bytes += program_.buffers[b].bytes();
    }
    return bytes;
  }
  // A clone needs buffers of its own for all outputs.
  bool Cloneable(int step) const {
    return forward_[step] &&
           std::ranges::all_of(program_.steps[step].outputs,
                               [&](int b) { return Made(b); });
  }

 private:
  // The steps that an output of the program depends on.
  void MarkForward() {
    std::vector<int> pending = program_.BuffersOf(BufferKind::kOutput);
    while (!pending.empty()) {
      const int step = writer_[pending.back()];
      pending.pop_back();
      if (step < 0 || forward_[step]) continue;
      forward_[step] = true;
      // A copy to the caller's output may come whenever there is time.
      const auto& outputs = program_.steps[step].outputs;
      if (std::ranges::any_of(outputs, [&](int b) { return Made(b); })) {
        last_forward_ = std::max(last_forward_, step);
      }
      const auto& inputs = program_.steps[step].inputs;
      pending.insert(pending.end(), inputs.begin(), inputs.end());
    }
  }

  const Program& program_;
  int steps_, last_forward_ = -1;
  std::vector<int> writer_;
  std::vector<bool> forward_, needed_;
};

// Which forward steps are recomputed.
using Choice = std::vector<bool>;

// The program with clones of the chosen steps.
class Cloning {
 public:
  Cloning(const Program& program, const Forward& forward, const Choice& choice)
      : program_(program), forward_(forward), choice_(choice) {}

  Program Run() {
    Program out = program_;
    out.steps.clear();
    for (int s = 0; s < forward_.steps(); ++s) {
      Step step = program_.steps[s];
      if (forward_.backward(s)) Redirect(out, step);
      out.steps.push_back(std::move(step));
    }
    SortByDependencies(out);  // the clones read states, too
    return out;
  }
  double seconds() const { return seconds_; }

 private:
  void Redirect(Program& out, Step& step) {
    for (int& input : step.inputs) input = CloneOf(out, input);
  }

  // The buffer that holds the recomputed value, or the buffer itself.
  int CloneOf(Program& out, int buffer) {
    if (!forward_.Made(buffer) || !choice_[forward_.writer(buffer)]) {
      return buffer;
    }
    const auto found = clones_.find(buffer);
    if (found != clones_.end()) return found->second;
    const int writer = forward_.writer(buffer);
    Step clone = program_.steps[writer];
    Redirect(out, clone);
    for (int& output : clone.outputs) {
      Buffer again = program_.buffers[output];
      again.name += "/again";
      out.buffers.push_back(std::move(again));
      const int index = static_cast<int>(out.buffers.size()) - 1;
      clones_[output] = index;
      output = index;
    }
    clone.name += "/again";
    seconds_ += forward_.Seconds(writer);
    out.steps.push_back(std::move(clone));
    return clones_.at(buffer);
  }

  const Program& program_;
  const Forward& forward_;
  const Choice& choice_;
  std::map<int, int> clones_;
  double seconds_ = 0;
};

struct Candidate {
  Program program;
  int64_t bytes = std::numeric_limits<int64_t>::max();
  double seconds = 0;
};

class Search {
 public:
  explicit Search(const Program& program)
      : program_(program), forward_(program) {
    for (const int b : program.BuffersOf(BufferKind::kOutput)) {
      output_bytes_ += program.buffers[b].bytes();
    }
  }

  Candidate Try(const Choice& choice) const {
    Candidate candidate;
    Cloning cloning(program_, forward_, choice);
    candidate.program = cloning.Run();
    candidate.seconds = cloning.seconds();
    candidate.bytes = Schedule(candidate.program).Peak() + output_bytes_;
    return candidate;
  }

  Choice Nothing() const { return Choice(forward_.steps(), false); }

  // Map steps that cost about as much as reading what they write, in chains of
  // at most `depth` of them, from values that are kept anyway.
  Choice Cheap(int depth) const {
    Choice choice = Nothing();
    std::vector<int> chain(forward_.steps(), 0);
    for (int s = 0; s < forward_.steps(); ++s) {
      if (!forward_.Cloneable(s) || !NextToNothing(s)) continue;
      int length = 1;
      bool from_kept = true;
      for (const int b : program_.steps[s].inputs) {
        if (!forward_.Made(b)) continue;
        const int writer = forward_.writer(b);
        if (choice[writer]) {
          length = std::max(length, chain[writer] + 1);
        } else if (program_.buffers[b].bytes() > forward_.Bytes(s) / 8) {
          from_kept = from_kept && forward_.needed(b);
        }
      }
      if (!from_kept || length > depth) continue;
      choice[s] = true;
      chain[s] = program_.steps[s].view ? length - 1 : length;
    }
    return choice;
  }

  // Everything between cuts, each segment making up to `segment` bytes, but
  // steps that take more than `price` seconds for each byte.
  Choice Segments(int64_t segment, double price) const {
    Choice choice = Nothing();
    for (int s = 0; s < forward_.steps(); ++s) {
      const auto bytes =
          static_cast<double>(std::max<int64_t>(forward_.Bytes(s), 1));
      choice[s] = forward_.Cloneable(s) && forward_.Seconds(s) / bytes <= price;
    }
    for (const int cut : Cuts(segment)) KeepAcross(cut, choice);
    return choice;
  }

  int64_t MadeBytes() const {
    int64_t bytes = 0;
    for (int s = 0; s < forward_.steps(); ++s) {
      if (forward_.forward(s)) bytes += forward_.Bytes(s);
    }
    return bytes;
  }

 private:
  bool NextToNothing(int step) const {
    const Step& s = program_.steps[step];
    if (s.view) return true;
    const int64_t bytes = forward_.Bytes(step);
    return s.map() && bytes >= kWorthwhileBytes &&
           forward_.Seconds(step) * kUnitsPerSecond <=
               kNextToNothing * static_cast<double>(bytes);
  }

  // The last forward step that reads each buffer.
  std::vector<int> LastForwardUse() const {
    std::vector<int> last(program_.buffers.size(), -1);
    for (int s = 0; s < forward_.steps(); ++s) {
      if (!forward_.forward(s)) continue;
      for (const int b : program_.steps[s].inputs) last[b] = s;
    }
    return last;
  }

  // Bytes that later forward steps read, after each step.
  std::vector<int64_t> Crossing(const std::vector<int>& last) const {
    std::vector<int64_t> ends(forward_.steps() + 1, 0), crossing;
    int64_t live = 0;
    for (int s = 0; s < forward_.steps(); ++s) {
      if (forward_.forward(s)) {
        for (const int b : program_.steps[s].outputs) {
          if (!forward_.Made(b) || last[b] < 0) continue;
          live += program_.buffers[b].bytes();
          ends[last[b]] += program_.buffers[b].bytes();
        }
      }
      live -= ends[s];
      crossing.push_back(live);
    }
    return crossing;
  }

  // Each segment ends in its second half where least crosses.
  std::vector<int> Cuts(int64_t segment) const {
    const std::vector<int64_t> crossing = Crossing(LastForwardUse());
    std::vector<int> cuts;
    int64_t made = 0;
    int best = -1;
    for (int s = 0; s < forward_.steps(); ++s) {
      if (!forward_.forward(s)) continue;
      made += forward_.Bytes(s);
      if (2 * made >= segment && (best < 0 || crossing[s] <= crossing[best])) {
        best = s;
      }
      if (made >= segment && best >= 0) {
        cuts.push_back(best);
        s = best;
        made = 0;
        best = -1;
      }
    }
    return cuts;
  }

  void KeepAcross(int cut, Choice& choice) const {
    const std::vector<int> last = LastForwardUse();
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const int buffer = static_cast<int>(b);
      if (!forward_.Made(buffer)) continue;
      const int writer = forward_.writer(buffer);
      if (writer <= cut && last[b] > cut) choice[writer] = false;
    }
  }

  const Program& program_;
  Forward forward_;
  int64_t output_bytes_ = 0;
};

// The cheap choice that needs least.
Candidate BestCheap(const Search& search) {
  Candidate best = search.Try(search.Nothing());
  for (const int depth : {1, 2, 4}) {
    Candidate candidate = search.Try(search.Cheap(depth));
    if (candidate.bytes < best.bytes) best = std::move(candidate);
  }
  return best;
}

// The fastest candidate within the budget; else the smallest.
Candidate BestWithin(const Search& search, int64_t budget, Candidate best) {
  const double inf = std::numeric_limits<double>::infinity();
  for (int divisions = 2; divisions <= 128; divisions += divisions / 2) {
    for (const double price : {inf, 1e-9, 3e-10, 1e-10}) {
      Candidate candidate =
          search.Try(search.Segments(search.MadeBytes() / divisions, price));
      const bool fits = candidate.bytes <= budget;
      const bool better = best.bytes > budget
                              ? candidate.bytes < best.bytes
                              : fits && candidate.seconds < best.seconds;
      if (better) best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace

Result<bool> Recompute(Program& program, PassContext& context) {
  if (program.BuffersOf(BufferKind::kNextState).empty()) return false;
  const Search search(program);
  Candidate best = BestCheap(search);
  const auto budget =
      context.training ? context.training->memory_budget : std::nullopt;
  if (budget && best.bytes > *budget) {
    best = BestWithin(search, *budget, std::move(best));
    if (best.bytes > *budget) {
      return Diagnostics{
          Error({},
                "the memory budget is {} B; the least with which '{}' trains "
                "is {} B",
                *budget, program.name, best.bytes)};
    }
  }
  if (best.program.steps.size() == program.steps.size()) return false;
  program = std::move(best.program);
  return true;
}

}  // namespace mxc
