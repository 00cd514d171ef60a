// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/open_axes.h"

#include <algorithm>
#include <cstring>

namespace mxc::runtime {

void OpenBytes::Gather(const std::byte* from, std::byte* to) const {
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * size, from + i * stride, size);
  }
}

void OpenBytes::Scatter(const std::byte* from, std::byte* to) const {
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * stride, from + i * size, size);
  }
}

OpenBytes OpenBytesOf(const mxc_executor& executor, uint32_t index) {
  const mxc_buffer& buffer = executor.executor->buffers()[index];
  const int axis = OpenAxisOf(buffer);
  OpenBytes bytes = {.size = buffer.bytes, .stride = buffer.bytes};
  if (axis < 0 || executor.length == 0 || buffer.bytes == 0) return bytes;
  // [before, sequences, length, inner, behind] elements.
  const auto most = static_cast<size_t>(executor.executor->entry().length);
  bytes.count = static_cast<size_t>(buffer.dims[axis]) /
                (most * static_cast<size_t>(buffer.advance));
  for (int k = 0; k < axis; ++k) {
    bytes.count *= static_cast<size_t>(buffer.dims[k]);
  }
  bytes.stride /= bytes.count;
  bytes.size = bytes.stride / most * static_cast<size_t>(executor.length);
  return bytes;
}

std::optional<size_t> LengthInput(const mxc_executor& executor) {
  const Executor& e = *executor.executor;
  const auto inputs = e.model().tables().Inputs(e.entry());
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (e.buffers()[inputs[k]].role == MXC_TENSOR_LENGTH) return k;
  }
  return std::nullopt;
}

Status SetLength(mxc_executor& executor, int64_t length) {
  Executor& e = *executor.executor;
  const auto input = LengthInput(executor);
  if (!input) {
    return Fail(StatusCode::kInvalidArgument,
                "the entry has no axis whose length is open");
  }
  const int64_t most = e.entry().length;
  if (length < 1 || length > most) {
    return Fail(StatusCode::kInvalidArgument,
                "a length of %lld, expected 1 to %lld",
                static_cast<long long>(length), static_cast<long long>(most));
  }
  executor.length = length;
  const Tables& tables = e.model().tables();
  for (const auto& tensors :
       {tables.Inputs(e.entry()), tables.Outputs(e.entry())}) {
    for (const uint32_t index : tensors) {
      const mxc_buffer& buffer = e.buffers()[index];
      const int axis = OpenAxisOf(buffer);
      if (axis < 0) continue;
      auto& extents = executor.extents[index];
      std::ranges::copy(buffer.dims, extents.begin());
      extents[static_cast<size_t>(axis)] = buffer.dims[axis] / most * length;
    }
  }
  const auto entries = static_cast<int32_t>(length);
  e.BindInput(*input, nullptr);
  std::memcpy(e.InputStorage(*input), &entries, sizeof entries);
  return {};
}

}  // namespace mxc::runtime
