// SPDX-License-Identifier: Apache-2.0
// Shared libraries of a user's functions (mxc_load_functions).
#pragma once

#include <string>

#include "runtime/base/status.h"
#include "runtime/mxc.h"

namespace mxc::runtime {

// What such a library exports as mxc_functions.
using FunctionLibrary = mxc_status* (*)(mxc_registrar add);

// Null where the library at `path` was loaded before. It is never unloaded.
StatusOr<FunctionLibrary> LoadFunctionLibrary(const std::string& path);

}  // namespace mxc::runtime
