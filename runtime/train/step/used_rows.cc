// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/used_rows.h"

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "runtime/formats/convert.h"

namespace mxc::train {
namespace {

using runtime::ElementType;

// The integers that an output holds; negative numbers are no rows.
std::vector<int64_t> NumbersIn(const runtime::Executor& executor,
                               size_t output) {
  const auto outputs = executor.model().tables().Outputs(executor.entry());
  const mxc_buffer& buffer = executor.buffers()[outputs[output]];
  const auto type = static_cast<ElementType>(buffer.dtype);
  std::vector<int64_t> numbers(
      buffer.bytes / static_cast<uint64_t>(runtime::ElementBytes(type)));
  runtime::ConvertElements(type, {executor.OutputStorage(output), buffer.bytes},
                           ElementType::kI64,
                           std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

}  // namespace

kvstore::OwnRows UsedRows(const runtime::Executor& executor,
                          const runtime::Exchange& exchange) {
  const std::span<const float> gradient = {
      reinterpret_cast<const float*>(executor.OutputStorage(exchange.output)),
      exchange.bytes / sizeof(float)};
  const mxc_state& table = executor.model().tables().states()[exchange.state];
  const auto all = static_cast<uint64_t>(table.dims[0]);
  kvstore::OwnRows rows;
  if (exchange.rows < 0) {
    rows.numbers.resize(all);
    std::iota(rows.numbers.begin(), rows.numbers.end(), uint64_t{0});
    rows.elements.assign(gradient.begin(), gradient.end());
    return rows;
  }
  const std::vector<int64_t> slots =
      NumbersIn(executor, static_cast<size_t>(exchange.rows));
  const uint64_t width = table.bytes / sizeof(float) / all;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] < 0 || static_cast<uint64_t>(slots[slot]) >= all) continue;
    rows.numbers.push_back(static_cast<uint64_t>(slots[slot]));
    const auto row = gradient.subspan(slot * width, width);
    rows.elements.insert(rows.elements.end(), row.begin(), row.end());
  }
  return rows;
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
