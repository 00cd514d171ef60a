// SPDX-License-Identifier: Apache-2.0
// Names of files that are no paths: what opens a file asks a program's locator
// for one that has "://" in it.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace mxc::runtime {

// The path of a file with the same bytes; `name` itself where it is a path.
// Called by any thread.
using FileLocator = StatusOr<std::string> (*)(const std::string& name);

// Once, before threads begin. Without one such names are paths.
void SetFileLocator(FileLocator locate);

}  // namespace mxc::runtime
