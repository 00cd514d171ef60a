// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/gradient_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/train/float_sums.h"
#include "runtime/train/step/used_rows.h"

namespace mxc::train {

using runtime::Exchange;
using runtime::Executor;

// Adds the rows of a table, those of one number to each other.
void GradientSums::AddRows(const Executor& executor, const Exchange& exchange,
                           Sum& sum) {
  kvstore::OwnRows used = UsedRows(executor, exchange);
  if (sum.batches++ == 0) {
    sum.rows = std::move(used);
    return;
  }
  const mxc_state& table = executor.model().tables().states()[exchange.state];
  const uint64_t width =
      table.bytes / sizeof(float) / static_cast<uint64_t>(table.dims[0]);
  const kvstore::Rows both[] = {sum.rows, used};
  sum.rows = kvstore::Merge(both, width);
}

void GradientSums::Add(const Executor& executor, const Exchange& exchange) {
  Sum& sum = sums_[exchange.state];
  if (exchange.rows >= 0) return AddRows(executor, exchange, sum);
  const std::span<const float> gradient = {
      reinterpret_cast<const float*>(executor.OutputStorage(exchange.output)),
      exchange.bytes / sizeof(float)};
  if (sum.batches++ == 0) {
    sum.values.assign(gradient.begin(), gradient.end());
  } else {
    AddTo(sum.values, gradient);
  }
}

std::span<const float> GradientSums::Finish(const Executor& executor,
                                            const Exchange& exchange) {
  Add(executor, exchange);
  Sum& sum = sums_[exchange.state];
  const int64_t batches = std::exchange(sum.batches, 0);
  if (batches > 1 && !step_.GivenRescale()) {
    const float share = 1 / static_cast<float>(batches);
    Multiply(exchange.rows >= 0 ? sum.rows.elements : sum.values, share);
  }
  return sum.values;
}

std::vector<float> GradientSums::Norms() const {
  const std::vector<std::string>& names = step_.facts().parameters;
  std::vector<float> norms(names.size(), std::nanf(""));
  for (const auto& [state, sum] : sums_) {
    const auto found = std::ranges::find(names, step_.states()[state].name);
    if (found == names.end()) continue;
    const double norm =
        NormOf(sum.values.empty() ? sum.rows.elements : sum.values);
    norms[static_cast<size_t>(found - names.begin())] =
        static_cast<float>(step_.Rescale() * norm);
  }
  return norms;
}

}  // namespace mxc::train
