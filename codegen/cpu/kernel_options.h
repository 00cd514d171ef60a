// SPDX-License-Identifier: Apache-2.0
// KernelOptions: what a user may ask of the kernels for CPUs.
#pragma once

#include <string_view>

#include "codegen/codegen.h"

namespace mxc {

struct KernelOptions {
  // "winograd": the side of the largest tiles that Winograd's algorithm may
  // compute: 2, 4 or 6 (of 4x4 kernels 3 or 5): larger ones multiply less and
  // are less exact; 0: it is not offered. Where weights change, larger ones than
  // 4 gain nothing.
  int winograd_tile = 4;
  // "strassen", "on" or "off": whether Strassen's algorithm is offered, for
  // products with constants.
  bool strassen = false;
};

// The defaults are those for constant weights, or for others.
KernelOptions KernelOptionsOf(const CatalogOptions& options);
bool IsKernelOption(std::string_view option);

}  // namespace mxc
