// SPDX-License-Identifier: Apache-2.0
// The functions of runtime/abi/collectives.def.
#pragma once

#include "runtime/device/collective.h"

namespace mxc::runtime {

#define MXC_COLLECTIVE(name, Function, gives, adds) \
  void Function(Member& member, const CollectiveTensor& tensor);
#include "runtime/abi/collectives.def"

}  // namespace mxc::runtime
