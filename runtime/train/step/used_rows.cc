// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/used_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/formats/convert.h"

namespace mxc::train {

using runtime::ElementType;

std::vector<uint64_t> UsedRows(const runtime::Executor& executor,
                               int64_t output, uint64_t rows) {
  std::vector<uint64_t> numbers;
  if (output < 0) {
    numbers.resize(rows);
    std::iota(numbers.begin(), numbers.end(), uint64_t{0});
    return numbers;
  }
  const auto row = static_cast<size_t>(output);
  const auto outputs = executor.model().tables().Outputs(executor.entry());
  const mxc_buffer& buffer = executor.buffers()[outputs[row]];
  const auto type = static_cast<ElementType>(buffer.dtype);
  const auto last = static_cast<int64_t>(rows) - 1;
  std::vector<int64_t> given(
      buffer.bytes / static_cast<uint64_t>(runtime::ElementBytes(type)));
  runtime::ConvertElements(type, {executor.OutputStorage(row), buffer.bytes},
                           ElementType::kI64,
                           std::as_writable_bytes(std::span(given)));
  for (const int64_t number : given) {
    numbers.push_back(
        static_cast<uint64_t>(std::clamp<int64_t>(number, 0, last)));
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

kvstore::OwnRows PickRows(std::vector<uint64_t> numbers, const float* table,
                          uint64_t width) {
  kvstore::OwnRows rows{std::move(numbers), {}};
  rows.elements.reserve(rows.numbers.size() * width);
  for (const uint64_t number : rows.numbers) {
    const float* row = table + number * width;
    rows.elements.insert(rows.elements.end(), row, row + width);
  }
  return rows;
}

}  // namespace mxc::train
