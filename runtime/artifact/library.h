// SPDX-License-Identifier: Apache-2.0
// Loads the shared object that an open file begins with.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// The handle that dlopen returns for the open file, even if `path` names
// another one by now. Two files of one checksum are one library. If the system
// forbids the file's code to run (noexec), the status says so.
StatusOr<void*> LoadLibrary(const Descriptor& file, const std::string& path,
                            uint64_t checksum);

}  // namespace mxc::runtime
