// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/image.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace mxc::runtime {
namespace {

// Constants that the dynamic linker does not touch.
template <class T>
std::optional<std::vector<T>> ReadConstants(const SharedObject& object,
                                            const char* name, uint64_t count) {
  if (count == 0) return std::vector<T>();
  const auto symbol = object.Find(name);
  if (!symbol || symbol->writable) return std::nullopt;
  const auto rows = ArrayAt<T>(symbol->bytes, 0, count);
  if (!rows) return std::nullopt;
  return std::vector<T>(rows->begin(), rows->end());
}

// Which rows of the table are kernels of this code. Each address is a place in
// it, and nothing else is changed when the code is loaded.
std::optional<std::vector<bool>> FilledKernels(
    const SharedObject& object, const SharedObject::Symbol& table,
    uint64_t count) {
  constexpr uint64_t kSize = sizeof(mxc_kernel);
  if (table.bytes.size() / kSize < count) return std::nullopt;
  std::vector<bool> filled(count);
  for (const auto& [address, target] : object.relocations()) {
    const uint64_t into = address - table.address;
    if (address < table.address || into / kSize >= count) {
      if (SharedObject::kInstrumented) continue;
      return std::nullopt;
    }
    if (!table.writable || into % kSize != 0 || !object.IsExecutable(target)) {
      return std::nullopt;
    }
    filled[into / kSize] = true;
  }
  return filled;
}

Status LacksKernels() {
  return Fail(StatusCode::kCorrupt, "its code lacks kernels");
}

}  // namespace

StatusOr<Image> Image::Read(const SharedObject& object) {
  Image image;
  const auto header = ReadConstants<mxc_code_header>(object, "mxc_abi", 1);
  if (!header || header->front().abi_version != MXC_ABI_VERSION) {
    return Fail(StatusCode::kCorrupt, "its code has no mxc_abi of version %u",
                MXC_ABI_VERSION);
  }
  image.header_ = header->front();
  const uint32_t count = image.header_.kernel_count;
  const auto kernels = object.Find("mxc_kernels");
  if (count > 0) {
    auto filled = kernels ? FilledKernels(object, *kernels, count)
                          : std::optional<std::vector<bool>>();
    if (!filled) return LacksKernels();
    image.filled_ = std::move(*filled);
  }
  auto limits = ReadConstants<mxc_kernel_limits>(object, "mxc_limits", count);
  auto operands = ReadConstants<mxc_operand_limits>(
      object, "mxc_operands", image.header_.operand_count);
  if (!limits || !operands) {
    return Fail(StatusCode::kCorrupt,
                "its code does not say what its kernels touch");
  }
  if (count > 0) image.kernels_ = kernels->address;
  image.limits_ = std::move(*limits);
  image.operands_ = std::move(*operands);
  return image;
}

Status Image::Check(const Container& container, const Tables& tables) const {
  const mxc_section& section = container.trailer().sections[MXC_SECTION_TABLES];
  if (header_.tables_checksum != section.checksum ||
      header_.kernel_count != tables.header().kernel_count) {
    return Fail(StatusCode::kCorrupt, "its code belongs to other tables");
  }
  const bool device = tables.header().device.count > 0;
  if (!device && std::ranges::count(filled_, false) > 0) return LacksKernels();
  for (const mxc_entry& entry : tables.entries()) {
    MXC_RT_RETURN_IF_ERROR(CheckEntry(tables, entry));
  }
  if (tables.preparation() == nullptr) return {};
  return CheckEntry(tables, *tables.preparation());
}

Status Image::CheckEntry(const Tables& tables, const mxc_entry& entry) const {
  const auto buffers = tables.Buffers(entry);
  for (const mxc_step& step : tables.Steps(entry)) {
    if (step.tasks == 0) continue;
    const mxc_kernel_limits& limits = limits_[step.kernel];
    const auto operands = tables.Operands(step);
    bool fits = Within(limits.operands.first, limits.operands.count,
                       operands_.size()) &&
                limits.operands.count == operands.size() &&
                limits.input_count == step.input_count &&
                limits.tasks == step.tasks &&
                limits.scratch_bytes <= step.scratch_bytes;
    for (size_t i = 0; fits && i < operands.size(); ++i) {
      const mxc_operand_limits& limit = operands_[limits.operands.first + i];
      const mxc_buffer& buffer = buffers[operands[i]];
      fits = limit.bytes <= buffer.bytes && limit.dtype == buffer.dtype;
    }
    const bool prepares = entry.kind == MXC_ENTRY_PREPARE;
    if (prepares && !filled_[step.kernel]) return LacksKernels();
    if (!fits) {
      return Fail(StatusCode::kCorrupt,
                  "damaged: step '%s' of entry '%s' does not fit its kernel",
                  tables.Text(step.name), tables.Text(entry.name));
    }
  }
  return {};
}

}  // namespace mxc::runtime
