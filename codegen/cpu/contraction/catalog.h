// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "codegen/codegen.h"
#include "ir/program/kernel_catalog.h"
#include "ir/target/target.h"

namespace mxc {

// The fast kernels that contractions have on a CPU.
std::unique_ptr<KernelCatalog> MakeCpuCatalog(const Target& target,
                                              const CatalogOptions& options);

}  // namespace mxc
