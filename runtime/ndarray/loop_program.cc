// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/loop_program.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/base/pages.h"

namespace mxc::runtime {
namespace {

using Role = CallSequence::Role;

// Runs calls within an operation, each by itself.
class OneByOne {
 public:
  OneByOne(std::span<const Use> uses, Values& values)
      : uses_(uses), values_(values) {
    for (const Use& use : uses) {
      failures_.emplace(use.variable, values.Of(*use.variable));
    }
  }

  void Run(const std::vector<WaitingCall>& calls) {
    for (const WaitingCall& call : calls) Run(call);
    for (const Use& use : uses_) {
      if (use.access != Access::kRead) {
        values_.Set(*use.variable, failures_.at(use.variable));
      }
    }
  }

 private:
  void Run(const WaitingCall& call) {
    const std::vector<const NDArray*> inputs = RefsTo(call.inputs),
                                      outputs = RefsTo(call.outputs);
    Values::FailurePtr failure;
    for (const NDArray* input : inputs) {
      if (failure == nullptr) failure = failures_[&input->variable()];
    }
    for (const NDArray* output : outputs) {
      const bool is_kept = output->AccessToWrite() == Access::kUpdate;
      if (failure == nullptr && is_kept) {
        failure = failures_[&output->variable()];
      }
    }
    if (failure == nullptr) {
      failure =
          values_.New(GivenCall{call.op, call.compiled, inputs, outputs}.Run());
    }
    for (const NDArray* output : outputs) {
      failures_[&output->variable()] = failure;
    }
  }

  const std::span<const Use> uses_;
  Values& values_;
  std::unordered_map<const Variable*, Values::FailurePtr> failures_;
};

std::vector<Use> UsesOf(const WiredSequence& wired) {
  std::vector<Use> uses;
  for (size_t v = 0; v < wired.values.size(); ++v) {
    const NDArray& value = wired.values[v];
    switch (wired.sequence.roles[v]) {
      case Role::kInput:
        uses.push_back({&value.variable(), Access::kRead});
        break;
      case Role::kInternal:  // somebody may have it, to be overwritten
      case Role::kOutput:
        uses.push_back({&value.variable(), value.AccessToWrite()});
        break;
      case Role::kInPlace:
        uses.push_back({&value.variable(), Access::kUpdate});
        break;
    }
  }
  return uses;
}

// That come and go with the turn.
size_t BytesOfTurn(const WiredSequence& wired) {
  size_t bytes = 0;
  for (size_t v = 0; v < wired.values.size(); ++v) {
    const Role role = wired.sequence.roles[v];
    if (role == Role::kInput || role == Role::kOutput) {
      bytes += wired.values[v].type().bytes();
    }
  }
  return bytes;
}

void LetGo(const std::vector<WaitingCall>& calls) {
  for (const WaitingCall& call : calls) call.compiled->LetIdleGo();
  ReleaseFreedMemory();
}

}  // namespace

void TurnsAhead::Turn::End() {
  const auto among = std::exchange(among_, nullptr);
  if (among == nullptr) return;
  const int before = among->taken_.fetch_sub(share_);
  if (before > kFew && before - share_ <= kFew) among->taken_.notify_all();
}

int TurnsAhead::ShareOf(size_t bytes) {
  constexpr size_t kSmall = size_t{256} << 10;
  return static_cast<int>(std::clamp(bytes / kSmall, size_t{1}, size_t{4}));
}

void TurnsAhead::Wait() const {
  int taken = taken_.load();
  if (taken < kMany) return;
  for (; taken > kFew; taken = taken_.load()) taken_.wait(taken);
}

Status LoopProgram::Run(const WiredSequence& wired) {
  std::vector<const NDArray*> inputs = RefsTo(wired.values), outputs;
  for (size_t v = 0; v < inputs.size(); ++v) {
    if (wired.sequence.roles[v] == Role::kOutput) outputs.push_back(inputs[v]);
  }
  return call_.Run(inputs, outputs, 0, 0);
}

void LoopProgram::Push(Engine& engine, std::shared_ptr<LoopProgram> program,
                       Given given, const std::shared_ptr<TurnsAhead>& ahead) {
  std::vector<Use> uses = UsesOf(given.wired);
  const auto turn =
      std::make_shared<TurnsAhead::Turn>(ahead, BytesOfTurn(given.wired));
  engine.Push({.name = "loop",
               .parts =
                   [program = std::move(program), given = std::move(given),
                    turn](Values& values) {
                     const std::vector<WaitingCall>& calls = given.calls;
                     if (values.HaveFailed()) {
                       OneByOne(values.uses(), values).Run(calls);
                     } else {
                       const Status status = program->Run(given.wired);
                       values.SetWritten(Prefixed(status, [&] {
                         return calls.front().Text() + " … " +
                                calls.back().Text();
                       }));
                     }
                     // Those that were pushed before have run.
                     if (given.lets_calls_go) LetGo(calls);
                     turn->End();
                   }},
              std::move(uses));
}

}  // namespace mxc::runtime
