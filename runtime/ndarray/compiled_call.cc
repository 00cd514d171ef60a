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

bool Overlap(const Array& a, const Array& b) {
  return a.chunk() == b.chunk() && a.data() < b.data() + b.type().bytes() &&
         b.data() < a.data() + a.type().bytes();
}

bool OverlapsAny(const Array& output, std::span<const Array> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Array& input) {
    return Overlap(output, input);
  });
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
  for (size_t row = 0; row < tables.states().size(); ++row) {
    if (std::string_view(tables.Text(tables.states()[row].name)) == "random") {
      random_state_ = row;
    }
  }
  is_brief_ = ModelledNanoseconds(tables, entry) < kBriefNanoseconds;
}

Status CompiledCall::Run(std::span<const Array> inputs,
                         std::span<const Array> outputs, uint64_t seed,
                         uint64_t draw) {
  MXC_RT_ASSIGN(std::unique_ptr<Executor> executor, Take());
  for (size_t i = 0; i < inputs.size(); ++i) {
    executor->BindInput(i, inputs[i].data());
  }
  // What lies where an input does stays in the executor until all is read.
  bool has_late = false;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const bool is_late = OverlapsAny(outputs[o], inputs);
    has_late |= is_late;
    executor->BindOutput(o, is_late ? nullptr : outputs[o].data());
  }
  if (random_state_) {
    const std::array<uint64_t, 2> state = {seed, draw};
    executor->WriteState(*random_state_, state.data());
  }
  MXC_RT_RETURN_IF_ERROR(executor->Run());
  for (size_t o = 0; has_late && o < outputs.size(); ++o) {
    if (!OverlapsAny(outputs[o], inputs)) continue;
    std::memcpy(outputs[o].data(), executor->OutputStorage(o),
                outputs[o].type().bytes());
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
