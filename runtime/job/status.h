// SPDX-License-Identifier: Apache-2.0
// What this room takes of runtime/base for every file.
#pragma once

#include "runtime/base/status.h"

namespace mxc::job {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

}  // namespace mxc::job
