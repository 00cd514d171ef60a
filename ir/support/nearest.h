// SPDX-License-Identifier: Apache-2.0
// The name that a misspelt one was probably meant to be.
#pragma once

#include "runtime/base/nearest.h"

namespace mxc {

using runtime::Nearest;
using runtime::NearestNote;

}  // namespace mxc
