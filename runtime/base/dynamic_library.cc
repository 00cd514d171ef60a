// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/dynamic_library.h"

#include <dlfcn.h>

namespace mxc::runtime {

Status LoadFunctions(const char* library, const char* what, const char* package,
                     std::span<const WantedFunction> wanted) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Fail(StatusCode::kUnsupported,
                "%s needs %s, which this machine does not have (Debian: %s)",
                what, library, package);
  }
  for (const WantedFunction& function : wanted) {
    *function.place = dlsym(handle, function.name);
    if (*function.place == nullptr) {
      return Fail(StatusCode::kUnsupported,
                  "%s needs the function %s, which this machine's %s lacks",
                  what, function.name, library);
    }
  }
  return {};
}

}  // namespace mxc::runtime
