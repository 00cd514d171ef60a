// SPDX-License-Identifier: Apache-2.0
// Shared libraries of a user's functions and operators (mxc_load_functions).
#pragma once

#include <string>

#include "runtime/base/status.h"
#include "runtime/mxc_operators.h"

namespace mxc::runtime {

// What such a library exports as mxc_functions and mxc_operators; null where it
// does not.
struct FunctionLibrary {
  mxc_status* (*functions)(mxc_registrar add) = nullptr;
  mxc_status* (*operators)(mxc_operator_registrar add) = nullptr;
};

// Empty where the library at `path` was loaded before. It is never unloaded.
StatusOr<FunctionLibrary> LoadFunctionLibrary(const std::string& path);

}  // namespace mxc::runtime
