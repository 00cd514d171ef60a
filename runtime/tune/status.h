// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/status.h"

namespace mxc::tune {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

}  // namespace mxc::tune
