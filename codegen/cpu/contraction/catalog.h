// SPDX-License-Identifier: Apache-2.0
// Offers passes the CPU's kernels for contractions, with their costs and
// layouts.
#pragma once

#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/cpu/kernel_options.h"
#include "ir/program/kernel_catalog.h"
#include "ir/target/target.h"

namespace mxc {

// The fast kernels that contractions have on a CPU.
class ContractionCatalog : public KernelCatalog {
 public:
  ContractionCatalog(const Target& target, const CatalogOptions& options);

  std::vector<KernelCandidate> Candidates(const Contraction& c) const override;
  std::string Describe(const KernelChoice& choice) const override;
  std::string NameOf(const KernelCandidate& kernel) const override;
  double RoundingBudget() const override { return rounding_budget_; }

  const Target& target() const { return target_; }

 private:
  const Target target_;
  const KernelOptions options_;
  const double rounding_budget_;
};

}  // namespace mxc
