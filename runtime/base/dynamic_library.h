// SPDX-License-Identifier: Apache-2.0
// Functions of shared libraries that are loaded when somebody first needs them,
// so that programs start on machines that do not have them.
#pragma once

#include <span>

#include "runtime/base/status.h"

namespace mxc::runtime {

struct WantedFunction {
  const char* name;
  void** place;  // of a pointer to the function
};

// Finds all of them in `library` and in what that depends on. It is never
// unloaded. kUnsupported where there is no such library, with what needs it
// ("signatures") and the package that has it, or where it lacks one of them.
Status LoadFunctions(const char* library, const char* what, const char* package,
                     std::span<const WantedFunction> wanted);

}  // namespace mxc::runtime
