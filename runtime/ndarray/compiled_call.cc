// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/compiled_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace mxc::runtime {
namespace {

// What it costs to hand an operation to another thread, about.
constexpr uint64_t kBriefNanoseconds = 5000;

uint64_t ModelledNanoseconds(const Tables& tables, const mxc_entry& entry) {
  uint64_t sum = 0;
  for (const mxc_step& step : tables.Steps(entry)) {
    sum += tables.InAllRuns(step, step.nanoseconds);
  }
  return sum;
}

bool Overlap(const std::byte* a, uint64_t a_bytes, const std::byte* b,
             uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

StatusOr<std::shared_ptr<Team>> SharedTeam::Get() {
  const std::lock_guard lock(mutex_);
  if (team_ == nullptr) {
    MXC_RT_ASSIGN(team_, Team::Start(AvailableThreads()));
  }
  return team_;
}

CompiledCall::CompiledCall(CompiledOperator compiled, SharedTeam& team)
    : compiled_(std::move(compiled)), team_(team) {
  const Tables& tables = compiled_.model->tables();
  const mxc_entry& entry = tables.entries()[0];
  const auto buffers = tables.Buffers(entry);
  for (const uint32_t output : tables.Outputs(entry)) {
    outputs_.push_back(ArrayType::OfRow(buffers[output]));
  }
  for (const uint32_t input : tables.Inputs(entry)) {
    input_bytes_.push_back(buffers[input].bytes);
  }
  for (size_t row = 0; row < tables.states().size(); ++row) {
    if (std::string_view(tables.Text(tables.states()[row].name)) == "random") {
      random_state_ = row;
    }
  }
  is_brief_ = ModelledNanoseconds(tables, entry) < kBriefNanoseconds;
}

Status CompiledCall::Run(const OperandMemory& memory, uint64_t seed,
                         uint64_t draw) {
  MXC_RT_ASSIGN(std::unique_ptr<Executor> executor, Take());
  for (size_t i = 0; i < memory.inputs.size(); ++i) {
    executor->BindInput(i, memory.inputs[i]);
  }
  const auto overlaps = [&](size_t output) {
    for (size_t i = 0; i < memory.inputs.size(); ++i) {
      if (Overlap(memory.outputs[output], outputs_[output].bytes(),
                  memory.inputs[i], input_bytes_[i])) {
        return true;
      }
    }
    return false;
  };
  // Those stay in the executor's memory until all is read.
  std::vector<size_t> late;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const bool is_late = overlaps(o);
    if (is_late) late.push_back(o);
    executor->BindOutput(o, is_late ? nullptr : memory.outputs[o]);
  }
  if (random_state_) {
    const std::array<uint64_t, 2> state = {seed, draw};
    executor->WriteState(*random_state_, state.data());
  }
  MXC_RT_RETURN_IF_ERROR(executor->Run());
  for (const size_t o : late) {
    std::memcpy(memory.outputs[o], executor->OutputStorage(o),
                outputs_[o].bytes());
  }
  Give(std::move(executor));
  return {};
}

StatusOr<std::unique_ptr<Executor>> CompiledCall::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Executor> executor = std::move(idle_.back());
      idle_.pop_back();
      return executor;
    }
  }
  Executor::Options options;
  if (!is_brief_) {
    MXC_RT_ASSIGN(options.team, team_.Get());
    options.threads = options.team->threads();
  }
  return Executor::Bind(compiled_.model, 0, options);
}

void CompiledCall::Give(std::unique_ptr<Executor> executor) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(executor));
}

}  // namespace mxc::runtime
