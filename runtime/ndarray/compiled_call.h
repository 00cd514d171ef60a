// SPDX-License-Identifier: Apache-2.0
// An operator, or a graph of them, for operands of known types: a model with one
// entry, and the executors that run it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"
#include "runtime/executor/team.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/idle_executors.h"
#include "runtime/ndarray/kept_calls.h"

namespace mxc::runtime {

// What a compiler makes of an operator.
struct CompiledOperator {
  std::shared_ptr<const Model> model;  // inputs and outputs in the order below
  size_t visible_outputs = 0;          // the first; what else it computes are …
  std::vector<size_t> updates;         // … the next values of these inputs, …
  size_t hidden_outputs = 0;           // … and what its gradient alone reads
  // The call's input that each of the model's is; nothing: in order.
  std::optional<std::vector<size_t>> input_order = {};
  // Inputs that are states of the model, which a run reads and writes where they
  // lie: nothing else of the call lies there.
  struct InPlace {
    size_t state, input;  // a row of the model's states; the call's input
  };
  std::vector<InPlace> in_place = {};
};

class GradientSource;

// What a compiler was asked for.
struct CallForm {
  std::vector<ArrayType> inputs;
  bool training = false;
  std::shared_ptr<const GradientSource> recorded;  // null: it is not recorded
};

// What calls share: threads for all executors, started when the first one needs
// them; the executors of larger programs while nobody runs them, an eighth of the
// machine's memory at most; and what operators have made.
class SharedTeam {
 public:
  // `most_kept`: each has mappings of its own, of which Linux gives a process
  // 65,530, and some tens of kilobytes.
  explicit SharedTeam(size_t most_kept = 2048);

  StatusOr<std::shared_ptr<Team>> Get();
  const std::shared_ptr<IdleExecutors>& idle() const { return idle_; }
  KeptCalls& kept() { return kept_; }

 private:
  std::mutex mutex_;
  std::shared_ptr<Team> team_;
  const std::shared_ptr<IdleExecutors> idle_;
  KeptCalls kept_;
};

class CompiledCall {
 public:
  CompiledCall(CompiledOperator compiled, CallForm form, SharedTeam& team);
  CompiledCall(const CompiledCall&) = delete;
  CompiledCall& operator=(const CompiledCall&) = delete;
  ~CompiledCall();

  uint64_t number() const { return number_; }  // its own in this process
  const CallForm& form() const { return form_; }
  const std::vector<ArrayType>& outputs() const { return outputs_; }
  size_t visible_outputs() const { return compiled_.visible_outputs; }
  const std::vector<size_t>& updates() const { return compiled_.updates; }
  size_t hidden_outputs() const { return compiled_.hidden_outputs; }
  uint64_t nanoseconds() const { return nanoseconds_; }  // as the model has it
  // It takes less than handing it over.
  bool is_brief() const { return nanoseconds_ < kBriefNanoseconds; }
  bool is_random() const { return random_state_.has_value(); }

  // `outputs`: visible ones, next values, hidden ones.
  // Any number of runs at once, each with an executor of its own, which is kept
  // for the next. Outputs may lie where inputs do: all is read before anything is
  // written where one of them does. `draw` numbers the call among those that draw
  // random numbers by `seed`.
  Status Run(ArrayRefs inputs, ArrayRefs outputs, uint64_t seed, uint64_t draw);
  // Frees the memory that it keeps for the next run, which may not come soon.
  void LetIdleGo() { idle_->Forget(*compiled_.model); }

 private:
  // What it costs to hand an operation to another thread, about.
  static constexpr uint64_t kBriefNanoseconds = 5000;

  StatusOr<std::unique_ptr<Executor>> Take(const IdleExecutors::Arena& arena);
  void Give(std::unique_ptr<Executor> executor);

  const uint64_t number_;
  const CallForm form_;
  const CompiledOperator compiled_;
  SharedTeam& team_;
  const std::shared_ptr<IdleExecutors>
      idle_;  // at exit it may outlive the team
  std::vector<ArrayType> outputs_;
  uint64_t nanoseconds_ = 0;
  uint64_t arena_bytes_ = 0;  // to be borrowed; 0: each executor has its own
  std::optional<size_t> random_state_;  // a row of the model's states

  // Of a small program, the one that was used last.
  std::atomic<Executor*> at_hand_{nullptr};
};

using CompiledCallPtr = std::shared_ptr<CompiledCall>;

}  // namespace mxc::runtime
