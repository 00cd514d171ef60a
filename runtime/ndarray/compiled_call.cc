// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/compiled_call.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "runtime/ndarray/bound_run.h"
#include "runtime/ndarray/short_list.h"

namespace mxc::runtime {
namespace {

// What each program may keep for itself.
constexpr uint64_t kSmallBytes = 64 << 10;

uint64_t MostIdleBytes() {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return pages / 8 * page;
}

uint64_t ModelledNanoseconds(const Tables& tables, const mxc_entry& entry) {
  uint64_t sum = 0;
  for (const mxc_step& step : tables.Steps(entry)) {
    sum += tables.InAllRuns(step, step.nanoseconds);
  }
  return sum;
}

// As many as the process may use, or as users of MXNet and of PyTorch say: "2", or
// for nested teams "2,1".
int ThreadsOfTeam() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const int wanted = text == nullptr ? 0 : std::atoi(text);
  return wanted < 1 ? AvailableThreads() : std::min(wanted, AvailableThreads());
}

uint64_t NextNumber() {
  static std::atomic<uint64_t> numbers{0};
  return ++numbers;
}

}  // namespace

SharedTeam::SharedTeam(size_t most_kept)
    : idle_(std::make_shared<IdleExecutors>(MostIdleBytes())),
      kept_(most_kept) {}

StatusOr<std::shared_ptr<Team>> SharedTeam::Get() {
  const std::lock_guard lock(mutex_);
  if (team_ == nullptr) {
    MXC_RT_ASSIGN(team_, Team::Start(ThreadsOfTeam()));
  }
  return team_;
}

CompiledCall::CompiledCall(CompiledOperator compiled, CallForm form,
                           SharedTeam& team)
    : number_(NextNumber()),
      form_(std::move(form)),
      compiled_(std::move(compiled)),
      team_(team),
      idle_(team.idle()) {
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
  nanoseconds_ = ModelledNanoseconds(tables, entry);
  if (entry.arena_bytes > kSmallBytes) arena_bytes_ = entry.arena_bytes;
}

CompiledCall::~CompiledCall() {
  delete at_hand_.load();
  LetIdleGo();
}

Status CompiledCall::Run(ArrayRefs inputs, ArrayRefs outputs, uint64_t seed,
                         uint64_t draw) {
  const IdleExecutors::ArenaLoan loan(*idle_, arena_bytes_);
  MXC_RT_ASSIGN(std::unique_ptr<Executor> executor, Take(loan.arena()));
  if (random_state_) {
    const std::array<uint64_t, 2> state = {seed, draw};
    executor->WriteState(*random_state_, state.data());
  }
  for (const auto [state, input] : compiled_.in_place) {
    MXC_RT_RETURN_IF_ERROR(inputs[input]->Require());
    executor->BindState(state, inputs[input]->data());
  }
  const auto& order = compiled_.input_order;
  ShortList<const NDArray*> ordered(order ? order->size() : 0);
  if (order) {
    for (const size_t input : *order) ordered.Add(inputs[input]);
  }
  MXC_RT_RETURN_IF_ERROR(RunBound(
      *executor, order ? ArrayRefs(ordered.all()) : inputs, outputs, {}));
  Give(std::move(executor));
  return {};
}

StatusOr<std::unique_ptr<Executor>> CompiledCall::Take(
    const IdleExecutors::Arena& arena) {
  if (Executor* const one =
          at_hand_.exchange(nullptr, std::memory_order_acquire)) {
    return std::unique_ptr<Executor>(one);
  }
  if (auto idle = idle_->Take(*compiled_.model, arena)) return idle;
  Executor::Options options;
  options.arena = arena;
  if (!is_brief()) {
    MXC_RT_ASSIGN(options.team, team_.Get());
    options.threads = options.team->threads();
  }
  return Executor::Bind(compiled_.model, 0, options);
}

void CompiledCall::Give(std::unique_ptr<Executor> executor) {
  Executor* none = nullptr;
  if (arena_bytes_ == 0 && OwnBytes(*executor) <= kSmallBytes &&
      at_hand_.compare_exchange_strong(none, executor.get(),
                                       std::memory_order_release)) {
    (void)executor.release();
    return;
  }
  idle_->Give(std::move(executor));
}

}  // namespace mxc::runtime
