// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/states.h"

#include <algorithm>

#include "ir/program/memory.h"

namespace mxc {
namespace {

bool HasValue(const Tensor& tensor) {
  if (tensor.empty()) return false;
  const std::byte* bytes = tensor.bytes();
  return std::any_of(bytes, bytes + tensor.size_bytes(),
                     [](std::byte byte) { return byte != std::byte{0}; });
}

}  // namespace

Result<StateTable> StateTable::Collect(std::span<const Program> entries) {
  StateTable table;
  Diagnostics errors;
  for (const Program& program : entries) {
    for (const int b : program.BuffersOf(BufferKind::kState)) {
      const Buffer& buffer = program.buffers[b];
      const auto [at, is_new] =
          table.index_.emplace(buffer.name, table.rows_.size());
      if (is_new) table.rows_.push_back({&buffer});
      Row& row = table.rows_[at->second];
      if (row.buffer->type != buffer.type) {
        errors.push_back(Error(
            {}, "'{}' is {} in one entry and {} in '{}'; entries share states",
            buffer.name, ToString(row.buffer->type), ToString(buffer.type),
            program.entry.Name()));
      }
      if (row.initial == nullptr && HasValue(buffer.constant)) {
        row.initial = &buffer;
      }
    }
  }
  if (!errors.empty()) return errors;
  for (Row& row : table.rows_) {
    row.offset = AlignedBytes(table.region_bytes_);
    table.region_bytes_ = row.offset + row.buffer->bytes();
  }
  return table;
}

}  // namespace mxc
