// SPDX-License-Identifier: Apache-2.0
#include "ir/program/kernel_catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mxc {

std::string KernelCatalog::NameOf(const KernelCandidate& kernel) const {
  return fmt::format("{} {}", kernel.choice.algorithm,
                     fmt::join(kernel.choice.numbers, " "));
}

}  // namespace mxc
