// SPDX-License-Identifier: Apache-2.0
// Brings the runtime's error types into this room's namespace.
#pragma once

#include "runtime/base/status.h"

namespace mxc::tune {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

}  // namespace mxc::tune
