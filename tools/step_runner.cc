// SPDX-License-Identifier: Apache-2.0
#include "tools/step_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

#include "runtime/base/float_mode.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

namespace rt = runtime;

// Calls f(logical position, element offset in the layout) for every element.
template <class F>
void ForElements(const Shape& shape, const Layout& layout, F f) {
  Extents index(shape.dims().size(), 0);
  const int64_t count = shape.elements();
  for (int64_t i = 0; i < count; ++i) {
    f(i, layout.Offset(index));
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape[static_cast<int>(axis)]) break;
      index[axis] = 0;
    }
  }
}

constexpr size_t kAlignment = 4096;

size_t RoundUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Result<StepRunner> StepRunner::Open(const std::string& artifact, size_t entry,
                                    const Program& program) {
  auto model = rt::Model::Open(artifact, {});
  if (!model.ok()) return UnplacedError(model.status().message());
  if (std::ranges::count((*model)->code().kernels(), nullptr) > 0) {
    return UnplacedError(
        "steps that run on a GPU cannot be compared one by one yet");
  }
  StepRunner runner(*model, entry, program);
  MXC_RETURN_IF_ERROR(runner.MatchBuffers());
  runner.Allocate();
  return runner;
}

StepRunner::StepRunner(std::shared_ptr<const rt::Model> model, size_t entry,
                       const Program& program)
    : model_(std::move(model)),
      entry_(&model_->tables().entries()[entry]),
      program_(&program) {
  // The steps of blocks belong to the step before them.
  const auto steps = model_->tables().Steps(*entry_);
  for (size_t row = 0; row < steps.size();) {
    steps_.push_back(row);
    row += size_t{1} + steps[row].body + steps[row].other;
  }
}

Status StepRunner::MatchBuffers() {
  const auto& tables = model_->tables();
  if (steps_.size() != program_->steps.size()) {
    return UnplacedError("the artifact has other steps than the program");
  }
  // Names need not be unique; those that share one are in the same order.
  std::map<std::string, std::deque<uint32_t>> by_name;
  const auto buffers = tables.Buffers(*entry_);
  for (uint32_t row = 0; row < buffers.size(); ++row) {
    by_name[tables.Text(buffers[row].name)].push_back(row);
  }
  for (const Buffer& buffer : program_->buffers) {
    std::deque<uint32_t>& rows = by_name[buffer.name];
    if (rows.empty()) {
      return UnplacedError(
          fmt::format("the artifact has no buffer '{}'", buffer.name));
    }
    rows_.push_back(rows.front());
    rows.pop_front();
  }
  return Done{};
}

void StepRunner::Allocate() {
  // Floats that nothing wrote are NaN.
  constexpr int kPoison = 0xff;
  const auto allocate = [&](uint64_t bytes, int filling = 0) {
    const size_t size = std::max(kAlignment, RoundUp(bytes));
    auto* memory =
        static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    MXC_CHECK(memory, "{} bytes", size);
    std::memset(memory, filling, size);
    memory_.emplace_back(memory);
    return memory;
  };
  sequencer_ = std::make_unique<rt::Sequencer>(
      *model_, *entry_,
      rt::Regions{.weights = model_->weights().data(),
                  .prepared = model_->prepared().data(),
                  .states = allocate(model_->tables().header().state_bytes),
                  .arena = allocate(entry_->arena_bytes, kPoison),
                  .host_weights = model_->weights().data(),
                  .host_arena = allocate(entry_->host_arena_bytes, kPoison)},
      rt::Sequencer::Scratch{allocate(entry_->scratch_bytes, kPoison)},
      /*threads=*/1);
  const auto buffers = model_->tables().Buffers(*entry_);
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const bool output = buffers[i].kind == MXC_BUFFER_OUTPUT;
    if (!output && buffers[i].kind != MXC_BUFFER_INPUT) continue;
    sequencer_->addresses().Move(
        i, allocate(buffers[i].bytes, output ? kPoison : 0));
  }
  sequencer_->addresses().Rewind();
}

Tensor StepRunner::Read(int buffer) const {
  const Buffer& b = program_->buffers[buffer];
  if (b.kind == BufferKind::kConstant) return b.constant;
  std::byte* bytes = nullptr;
  Tensor value = Tensor::Allocate(b.type, &bytes);
  const std::byte* from = sequencer_->addresses().of(rows_[buffer]);
  const int64_t size = SizeOf(b.type.dtype);
  ForElements(b.type.shape, b.layout, [&](int64_t i, int64_t offset) {
    std::memcpy(bytes + i * size, from + offset * size,
                static_cast<size_t>(size));
  });
  return value;
}

void StepRunner::Write(int buffer, const Tensor& value) {
  const Buffer& b = program_->buffers[buffer];
  std::byte* to = sequencer_->addresses().of(rows_[buffer]);
  const int64_t size = SizeOf(b.type.dtype);
  ForElements(b.type.shape, b.layout, [&](int64_t i, int64_t offset) {
    std::memcpy(to + offset * size, value.bytes() + i * size,
                static_cast<size_t>(size));
  });
}

void StepRunner::RunStep(int step) {
  const auto index = static_cast<size_t>(step);
  const size_t end =
      index + 1 < steps_.size() ? steps_[index + 1] : entry_->steps.count;
  const rt::FloatMode mode;
  sequencer_->RunAlone(steps_[index], end, {});
}

std::string StepRunner::KernelName(int step) const {
  const size_t row = steps_[static_cast<size_t>(step)];
  const rt::Tables& tables = model_->tables();
  return tables.KernelText(tables.Steps(*entry_)[row]);
}

}  // namespace mxc
