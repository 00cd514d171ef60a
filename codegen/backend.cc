// SPDX-License-Identifier: Apache-2.0
#include "codegen/backend.h"

#include "ir/support/check.h"

namespace mxc {

const Backend& BackendOf(const Target& target) {
#define MXC_BACKEND(name, Function) \
  if (target.backend == name) return Function();
#include "codegen/targets.def"
#undef MXC_BACKEND
  MXC_CHECK(false, "target '{}' names backend '{}'", target.name,
            target.backend);
}

std::unique_ptr<KernelCatalog> MakeKernelCatalog(
    const Target& target, const CatalogOptions& options) {
  return BackendOf(target).MakeCatalog(target, options);
}

bool TakesOption(const Target& target, std::string_view option) {
  return BackendOf(target).Takes(target, option);
}

}  // namespace mxc
