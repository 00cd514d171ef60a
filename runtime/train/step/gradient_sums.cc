// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/gradient_sums.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "runtime/train/float_sums.h"
#include "runtime/train/step/used_rows.h"

namespace mxc::train {

using runtime::Exchange;
using runtime::Executor;

void GradientSums::Add(const Executor& executor, const Exchange& exchange) {
  Sum& sum = sums_[exchange.state];
  const std::span<const float> gradient = {
      reinterpret_cast<const float*>(executor.OutputStorage(exchange.output)),
      exchange.bytes / sizeof(float)};
  if (sum.batches++ == 0) {
    sum.values.assign(gradient.begin(), gradient.end());
    sum.rows.clear();
  } else {
    AddTo(sum.values, gradient);
  }
  if (exchange.rows < 0) return;
  const mxc_state& table = executor.model().tables().states()[exchange.state];
  const auto used =
      UsedRows(executor, exchange.rows, static_cast<uint64_t>(table.dims[0]));
  std::vector<uint64_t> all;
  std::ranges::set_union(sum.rows, used, std::back_inserter(all));
  sum.rows = std::move(all);
}

std::span<const float> GradientSums::Finish(const Executor& executor,
                                            const Exchange& exchange) {
  Add(executor, exchange);
  Sum& sum = sums_[exchange.state];
  const int64_t batches = std::exchange(sum.batches, 0);
  if (batches > 1 && !step_.GivenRescale()) {
    Multiply(sum.values, 1 / static_cast<float>(batches));
  }
  return sum.values;
}

std::vector<float> GradientSums::Norms() const {
  const std::vector<std::string>& names = step_.facts().parameters;
  std::vector<float> norms(names.size(), std::nanf(""));
  for (const auto& [state, sum] : sums_) {
    const auto found = std::ranges::find(names, step_.states()[state].name);
    if (found == names.end()) continue;
    norms[static_cast<size_t>(found - names.begin())] =
        static_cast<float>(step_.Rescale() * NormOf(sum.values));
  }
  return norms;
}

}  // namespace mxc::train
