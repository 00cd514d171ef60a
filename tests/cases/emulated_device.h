// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/support/result.h"

namespace mxc {

// Lets this process compile for cuda:emulated and run what it compiled, behind
// the driver of tests/cuda.
Status UseEmulatedDevice();

}  // namespace mxc
