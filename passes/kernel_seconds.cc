// SPDX-License-Identifier: Apache-2.0
#include "passes/kernel_seconds.h"

#include <algorithm>
#include <cmath>

namespace mxc {

double KernelSeconds(const KernelCandidate& kernel, bool constant_weight,
                     int64_t sharers) {
  if (!constant_weight) {
    return kernel.cost + kernel.packing_cost / static_cast<double>(sharers);
  }
  // A constant is laid out once, but as it is.
  return kernel.flipped_weight ? HUGE_VAL : kernel.cost;
}

std::optional<double> KernelSeconds(const KernelCatalog& catalog,
                                    const Contraction& contraction,
                                    bool constant_weight) {
  double least = HUGE_VAL;
  for (const KernelCandidate& kernel : catalog.Candidates(contraction)) {
    least = std::min(least, KernelSeconds(kernel, constant_weight));
  }
  return least == HUGE_VAL ? std::nullopt : std::optional(least);
}

}  // namespace mxc
