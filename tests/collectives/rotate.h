// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/device/collective.h"

namespace mxc::runtime {

void Rotate(Member& member, const CollectiveTensor& tensor);

}  // namespace mxc::runtime
