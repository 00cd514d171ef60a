// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/step_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/base/float_mode.h"
#include "runtime/device/device.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

namespace rt = runtime;

// How much further into the layout each position of the axis lies than its
// first: an element's offset is that of the first element and the sum of these
// over the axes.
Extents Ways(const Shape& shape, const Layout& layout, int axis) {
  Extents index(shape.dims().size(), 0);
  const int64_t first = layout.Offset(index);
  Extents ways;
  int64_t& i = index[static_cast<size_t>(axis)];
  for (; i < shape[axis]; ++i) ways.push_back(layout.Offset(index) - first);
  return ways;
}

// Calls f(logical position, element offset in the layout) for every element.
template <class F>
void ForElements(const Shape& shape, const Layout& layout, F f) {
  const int rank = shape.rank();
  if (rank == 0) return f(0, layout.Offset({}));
  std::vector<Extents> ways;
  for (int axis = 0; axis < rank; ++axis) {
    ways.push_back(Ways(shape, layout, axis));
  }
  const Extents& last = ways.back();
  const int64_t rows = shape.elements() / shape[rank - 1];
  const int64_t first = layout.Offset(Extents(ways.size(), 0));
  int64_t i = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = first;
    int64_t rest = row;
    for (int axis = rank - 1; axis-- > 0; rest /= shape[axis]) {
      offset += ways[static_cast<size_t>(axis)]
                    [static_cast<size_t>(rest % shape[axis])];
    }
    for (const int64_t way : last) f(i++, offset + way);
  }
}

// Floats that nothing wrote are NaN.
constexpr uint8_t kPoison = 0xff;

bool IsCallers(const mxc_buffer& buffer) {
  return buffer.kind == MXC_BUFFER_OUTPUT || buffer.kind == MXC_BUFFER_INPUT;
}

}  // namespace

Result<StepRunner> StepRunner::Open(const std::string& artifact, size_t entry,
                                    const Program& program) {
  auto model = rt::Model::Open(artifact, {});
  if (!model.ok()) return UnplacedError(model.status().message());
  const rt::Tables& tables = (*model)->tables();
  const std::string_view named = tables.Text(tables.header().device);
  auto device = rt::FindDevice(named.empty() ? "cpu" : named.data());
  if (!device.ok()) return UnplacedError(device.status().message());
  StepRunner runner(*model, entry, program);
  MXC_RETURN_IF_ERROR(runner.MatchBuffers());
  MXC_RETURN_IF_ERROR(runner.Allocate(**device));
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

Status StepRunner::Allocate(const rt::Device& device) {
  const auto buffers = model_->tables().Buffers(*entry_);
  rt::Sizes sizes;
  const uint64_t scratch_bytes =
      std::max<uint64_t>(entry_->scratch_bytes, MXC_SCRATCH_NOTE);
  const uint64_t scratch = sizes.Add(scratch_bytes, MXC_PAGE);
  std::vector<uint64_t> begins;
  for (const mxc_buffer& buffer : buffers) {
    begins.push_back(IsCallers(buffer) ? sizes.Add(buffer.bytes, MXC_PAGE) : 0);
  }
  auto storage =
      rt::Storage::Allocate(model_, device, sizes.total(), nullptr, nullptr);
  if (!storage.ok()) return UnplacedError(storage.status().message());
  storage_ = std::move(*storage);
  const rt::Regions regions = storage_->regions();
  std::byte* const extra = storage_->extra();
  Poison(regions.arena, entry_->arena_bytes);
  if (regions.host_arena != nullptr) {
    std::memset(regions.host_arena, kPoison, entry_->host_arena_bytes);
  }
  if (device.IsHost()) {
    Poison(extra + scratch, scratch_bytes);
    sequencer_ = std::make_unique<rt::Sequencer>(
        *model_, *entry_, regions, rt::Sequencer::Scratch{extra + scratch},
        /*threads=*/1);
  } else {
    sequencer_ = std::make_unique<rt::Sequencer>(*model_, *entry_, regions,
                                                 storage_->run());
  }
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (!IsCallers(buffers[i])) continue;
    if (buffers[i].kind == MXC_BUFFER_OUTPUT) {
      Poison(extra + begins[i], buffers[i].bytes);
    }
    sequencer_->addresses().Move(i, extra + begins[i]);
  }
  sequencer_->addresses().Rewind();
  return Done{};
}

void StepRunner::Poison(std::byte* memory, uint64_t bytes) const {
  constexpr uint64_t kPiece = 1 << 20;
  const std::vector<std::byte> piece(std::min(bytes, kPiece),
                                     std::byte{kPoison});
  for (uint64_t at = 0; at < bytes; at += kPiece) {
    storage_->device().Write(memory + at, piece.data(),
                             std::min(bytes - at, kPiece));
  }
}

bool StepRunner::IsOnHost(int buffer) const {
  const auto buffers = model_->tables().Buffers(*entry_);
  return storage_->device().IsHost() ||
         buffers[rows_[buffer]].place == MXC_PLACE_HOST;
}

std::vector<std::byte> StepRunner::BytesOf(int buffer) const {
  const std::byte* from = sequencer_->addresses().of(rows_[buffer]);
  const auto buffers = model_->tables().Buffers(*entry_);
  std::vector<std::byte> bytes(buffers[rows_[buffer]].bytes);
  if (IsOnHost(buffer)) {
    std::copy_n(from, bytes.size(), bytes.begin());
  } else {
    storage_->device().Read(bytes.data(), from, bytes.size());
  }
  return bytes;
}

Tensor StepRunner::Read(int buffer) const {
  const Buffer& b = program_->buffers[buffer];
  if (b.kind == BufferKind::kConstant) return b.constant;
  std::byte* bytes = nullptr;
  Tensor value = Tensor::Allocate(b.type, &bytes);
  const std::vector<std::byte> from = BytesOf(buffer);
  const int64_t size = SizeOf(b.type.dtype);
  ForElements(b.type.shape, b.layout, [&](int64_t i, int64_t offset) {
    std::memcpy(bytes + i * size, from.data() + offset * size,
                static_cast<size_t>(size));
  });
  return value;
}

void StepRunner::Write(int buffer, const Tensor& value) {
  const Buffer& b = program_->buffers[buffer];
  std::vector<std::byte> to = BytesOf(buffer);
  const int64_t size = SizeOf(b.type.dtype);
  ForElements(b.type.shape, b.layout, [&](int64_t i, int64_t offset) {
    std::memcpy(to.data() + offset * size, value.bytes() + i * size,
                static_cast<size_t>(size));
  });
  std::byte* const memory = sequencer_->addresses().of(rows_[buffer]);
  if (IsOnHost(buffer)) {
    std::copy(to.begin(), to.end(), memory);
  } else {
    storage_->device().Write(memory, to.data(), to.size());
  }
}

Status StepRunner::RunStep(int step) {
  const auto index = static_cast<size_t>(step);
  const size_t end =
      index + 1 < steps_.size() ? steps_[index + 1] : entry_->steps.count;
  const rt::FloatMode mode;
  sequencer_->RunAlone(steps_[index], end, {});
  const rt::Status outcome = sequencer_->Outcome();
  if (!outcome.ok()) return UnplacedError(outcome.message());
  return Done{};
}

std::string StepRunner::KernelName(int step) const {
  const size_t row = steps_[static_cast<size_t>(step)];
  const rt::Tables& tables = model_->tables();
  return tables.KernelText(tables.Steps(*entry_)[row]);
}

}  // namespace mxc
