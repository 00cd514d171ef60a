// SPDX-License-Identifier: Apache-2.0
// How long a contraction takes by the catalog's estimates, with a constant
// weight or another one, and a step that gives it data of another type.
#pragma once

#include <optional>

#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

// Of one kernel, with its part of packing a weight that is no constant and that
// so many steps share. Infinite for kernels that constants are not packed for.
double KernelSeconds(const KernelCandidate& kernel, bool constant_weight,
                     int64_t sharers = 1);

// Of the fastest kernel; nothing where the catalog has none.
std::optional<double> KernelSeconds(const KernelCatalog& catalog,
                                    const Contraction& contraction,
                                    bool constant_weight);

// Of writing elements of one type in another.
double CastSeconds(const Machine& machine, const TensorType& from, DType to);

}  // namespace mxc
