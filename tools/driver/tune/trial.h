// SPDX-License-Identifier: Apache-2.0
// A trial: a program in which one contraction runs as it would in a network.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "ir/target/target.h"

namespace mxc {

// One contraction by one of its kernels, through the passes that give it its
// layouts. Before it, steps read more memory than the caches hold, so that its
// weights have left them, and then write its data, a convolution's by a small
// convolution, so that threads hold what they hold in a network; a rectifier is
// part of it, unless the catalog says otherwise (Trials). Its weight is a constant, or written by a step, too. The first
// input is "eviction", of so many bytes. `catalog` offers the kernel.
Result<Program> MakeTrial(const Contraction& contraction,
                          const KernelCandidate& kernel, bool constant_weight,
                          const KernelCatalog& catalog, const Target& target,
                          int64_t eviction_bytes);

// Returns whether the step of a trial is the contraction, or adds up its parts.
bool IsTried(const Step& step);

}  // namespace mxc
