// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/open_axes.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace mxc::runtime {
namespace {

Status CheckLengths(const std::vector<OpenLength>& open,
                    std::span<const int64_t> lengths) {
  if (open.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "the entry has no axis whose length is open");
  }
  if (open.size() != lengths.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "%zu given, but the entry has %zu of them: %s", lengths.size(),
                open.size(), LengthNames(open).c_str());
  }
  for (size_t k = 0; k < open.size(); ++k) {
    if (1 <= lengths[k] && lengths[k] <= open[k].most) continue;
    const std::string of =
        *open[k].name == '\0' ? "" : Format(" for '%.100s'", open[k].name);
    return Fail(StatusCode::kInvalidArgument,
                "a length of %lld%s, expected 1 to %lld",
                static_cast<long long>(lengths[k]), of.c_str(),
                static_cast<long long>(open[k].most));
  }
  return {};
}

std::vector<CountedAxis> CountedAxes(const mxc_executor& executor,
                                     const mxc_buffer& buffer) {
  const Executor& e = *executor.executor;
  const Tables& tables = e.model().tables();
  const auto& lengths = tables.Lengths(e.entry());
  std::vector<CountedAxis> axes;
  for (const OpenAxis& open : tables.OpenAxes(buffer)) {
    axes.push_back({open.axis, open.inner, lengths[open.length].most,
                    executor.lengths[open.length]});
  }
  return axes;
}

}  // namespace

CountedBytes CountedBytesOf(const mxc_executor& executor, uint32_t index) {
  const mxc_buffer& buffer = executor.executor->buffers()[index];
  return {{buffer.dims, buffer.rank},
          CountedAxes(executor, buffer),
          ElementSize(buffer.dtype)};
}

Status SetLengths(mxc_executor& executor, std::span<const int64_t> lengths) {
  Executor& e = *executor.executor;
  const Tables& tables = e.model().tables();
  const std::vector<OpenLength>& open = tables.Lengths(e.entry());
  MXC_RT_RETURN_IF_ERROR(CheckLengths(open, lengths));
  executor.lengths.assign(lengths.begin(), lengths.end());
  for (const auto& tensors :
       {tables.Inputs(e.entry()), tables.Outputs(e.entry())}) {
    for (const uint32_t index : tensors) {
      const mxc_buffer& buffer = e.buffers()[index];
      const auto axes = CountedAxes(executor, buffer);
      if (axes.empty()) continue;
      auto& extents = executor.extents[index];
      std::ranges::copy(buffer.dims, extents.begin());
      for (const CountedAxis& axis : axes) {
        extents[static_cast<size_t>(axis.axis)] =
            buffer.dims[axis.axis] / axis.most * axis.length;
      }
    }
  }
  for (size_t k = 0; k < open.size(); ++k) {
    const auto entries = static_cast<int32_t>(lengths[k]);
    e.BindInput(open[k].input, nullptr);
    std::memcpy(e.InputStorage(open[k].input), &entries, sizeof entries);
  }
  return {};
}

}  // namespace mxc::runtime
