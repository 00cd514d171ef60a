// SPDX-License-Identifier: Apache-2.0
#include "passes/kernel_seconds.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"

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

double CastSeconds(const Machine& machine, const TensorType& from, DType to) {
  const Extents& dims = from.shape.dims();
  std::vector<Expr> index;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    index.push_back(Var(static_cast<int>(axis)));
  }
  const Expr value = Cast(Load(0, from.dtype, std::move(index)), to);
  return HoistedCost({0, Extents(dims.size(), 0), dims, value}) /
         machine.elements_per_second;
}

}  // namespace mxc
