// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/storage.h"

#include <algorithm>
#include <utility>

namespace mxc::runtime {
namespace {

constexpr uint64_t kTooMuch = uint64_t{1} << 60;

// What the entries need at most of something.
template <class Need>
auto Largest(const Tables& tables, Need need) {
  decltype(need(mxc_entry{})) largest = 0;
  for (const mxc_entry& entry : tables.entries()) {
    largest = std::max(largest, need(entry));
  }
  return largest;
}

uint32_t StartsOf(std::span<const mxc_step> steps) {
  return static_cast<uint32_t>(
      std::ranges::count(steps, uint8_t{MXC_STEP_START},
                         [](const mxc_step& s) { return s.kind; }));
}

}  // namespace

uint64_t Sizes::Add(uint64_t bytes, uint64_t alignment) {
  const uint64_t begin = total_;
  bytes = std::min(bytes, kTooMuch);
  total_ = std::min(total_ + (bytes + alignment - 1) / alignment * alignment,
                    kTooMuch);
  return begin;
}

StatusOr<std::shared_ptr<Storage>> Storage::Allocate(
    std::shared_ptr<const Model> model, const Device& device,
    uint64_t extra_bytes, void* stream, std::shared_ptr<const Region> arena,
    const Filled& filled) {
  const Tables& tables = model->tables();
  const uint64_t arena_bytes =
      Largest(tables, [](const mxc_entry& e) { return e.arena_bytes; });
  if (arena != nullptr && (!device.IsHost() || arena->size() < arena_bytes)) {
    return Fail(StatusCode::kInvalidArgument,
                "the arena that is given is not the host's, or too small");
  }
  Sizes sizes;
  sizes.Add(tables.header().state_bytes, MXC_PAGE);
  const uint64_t own_arena =
      sizes.Add(arena == nullptr ? arena_bytes : 0, MXC_PAGE);
  const uint64_t extra = sizes.Add(extra_bytes, MXC_PAGE);
  auto memory = device.Allocate(sizes.total(),
                                "states, arena, inputs, outputs and scratch");
  if (!memory.ok()) return memory.status();
  auto storage = std::make_shared<Storage>();
  storage->model_ = std::move(model);
  storage->device_ = &device;
  storage->memory_ = std::move(*memory);
  storage->arena_ =
      arena != nullptr ? arena->data() : storage->memory_->data() + own_arena;
  storage->given_arena_ = std::move(arena);
  storage->extra_ = storage->memory_->data() + extra;
  MXC_RT_RETURN_IF_ERROR(storage->PlaceWeights());
  MXC_RT_RETURN_IF_ERROR(storage->OpenDevice(stream));
  storage->CopyInitialValues(filled);
  return storage;
}

Status Storage::PlaceWeights() {
  const Bytes weights = model_->weights(), prepared = model_->prepared();
  weights_ = weights.data();
  prepared_ = prepared.data();
  if (device_->IsHost()) return {};
  Sizes sizes;
  sizes.Add(weights.size(), MXC_PAGE);
  const uint64_t rest = sizes.Add(prepared.size(), MXC_PAGE);
  auto memory = device_->Allocate(sizes.total(), "the weights");
  if (!memory.ok()) return memory.status();
  device_weights_ = std::move(*memory);
  std::byte* const to = device_weights_->data();
  device_->Write(to, weights_, weights.size());
  device_->Write(to + rest, prepared_, prepared.size());
  weights_ = to;
  prepared_ = to + rest;
  return {};
}

Status Storage::OpenDevice(void* stream) {
  const Tables& tables = model_->tables();
  const uint64_t host = Largest(
      tables, [](const mxc_entry& entry) { return entry.host_arena_bytes; });
  if (host > 0) {
    auto memory = device_->AllocateHost(host, "the host's arena");
    if (!memory.ok()) return memory.status();
    host_arena_ = std::move(*memory);
  }
  if (device_->IsHost()) {
    if (stream == nullptr) return {};
    return Fail(StatusCode::kInvalidArgument,
                "a stream is given, and the model runs on the CPU, which has "
                "none");
  }
  auto module = device_->Load(
      {.code = model_->device_code(), .kernels = model_->code().kernels()});
  if (!module.ok()) return module.status();
  module_ = std::move(*module);
  MXC_RT_RETURN_IF_ERROR(CheckKernels());
  const uint32_t beside = Largest(
      tables, [&](const mxc_entry& e) { return StartsOf(tables.Steps(e)); });
  MXC_RT_ASSIGN(stream_, device_->OpenStream(beside, stream));
  return {};
}

Status Storage::CheckKernels() const {
  const Tables& tables = model_->tables();
  for (const mxc_entry& entry : tables.entries()) {
    for (const mxc_step& step : tables.Steps(entry)) {
      const char* kernel = tables.Text(step.kernel_name);
      if (step.tasks == 0 || module_->Find(kernel) != nullptr) continue;
      return Fail(StatusCode::kCorrupt,
                  "damaged: its code for the device lacks kernel '%s'", kernel);
    }
  }
  return {};
}

void Storage::ResetStates() {
  static constexpr std::byte kZeros[MXC_PAGE] = {};
  const auto states = model_->tables().states();
  for (size_t row = 0; row < states.size(); ++row) {
    if (states[row].initial != MXC_ZEROS) continue;
    const std::span<std::byte> state = State(row);
    for (uint64_t at = 0; at < state.size(); at += MXC_PAGE) {
      device_->Write(state.data() + at, kZeros,
                     std::min<uint64_t>(MXC_PAGE, state.size() - at));
    }
  }
  CopyInitialValues();
}

// Piece by piece, so that never both a large state and its value in the file
// are resident.
void Storage::CopyInitialValues(const Filled& filled) {
  constexpr uint64_t kPiece = 1 << 22;
  const auto states = model_->tables().states();
  for (size_t row = 0; row < states.size(); ++row) {
    const uint64_t initial = states[row].initial;
    if (initial == MXC_ZEROS) continue;
    const std::span<std::byte> state = State(row);
    for (uint64_t at = 0; at < state.size(); at += kPiece) {
      const uint64_t bytes = std::min<uint64_t>(kPiece, state.size() - at);
      device_->Write(state.data() + at, model_->weights().data() + initial + at,
                     bytes);
      model_->ForgetWeights(initial + at, bytes);
    }
    if (filled && device_->IsHost()) filled(row, state);
  }
}

}  // namespace mxc::runtime
