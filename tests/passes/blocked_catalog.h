// SPDX-License-Identifier: Apache-2.0
// A catalog like a real target's, small enough for small tensors: convolutions
// in blocks of 4 channels with a border of zeros, matrix products row-major; data in
// the type of their sums are twice as fast.
#pragma once

#include <span>
#include <vector>

#include "ir/program/kernel_catalog.h"

namespace mxc {

class BlockedCatalog : public KernelCatalog {
 public:
  std::vector<KernelCandidate> Candidates(const Contraction& c) const override;
  // Two steps, the second of which may need results of the first if those are
  // fewer than its own.
  bool Finishes(const Program& program, const Step& step,
                const KernelCandidate& kernel) const override;
  bool RunsAtOnce(const Program& program,
                  std::span<const Step* const> steps) const override;
};

}  // namespace mxc
