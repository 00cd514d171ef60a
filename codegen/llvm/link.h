// SPDX-License-Identifier: Apache-2.0
// LLD in this process.
#pragma once

#include <span>
#include <string>

#include "ir/support/result.h"

namespace mxc {

// Links relocatable objects into a shared object that needs no library, or,
// with `relocatable`, into one object. One link at a time runs in a process;
// others wait. A failed link of what we emitted is our bug; failures of the
// surroundings (no space for temporary files) are reported.
Result<std::string> Link(std::span<const std::string> objects,
                         bool relocatable = false);

// Links objects of WebAssembly into a module that has all its memory from the
// start, whose stack no overflow leaves unseen. Exported are the functions that
// say so of themselves (attribute wasm-export-name) and, as numbers, the
// addresses of these symbols. What nothing of this reaches is left out. It imports
// nothing; with `shared`, the memory alone (env.memory), which several instances
// share, each with a stack of its own (__stack_pointer, exported).
Result<std::string> LinkPage(std::span<const std::string> objects,
                             std::span<const std::string> addresses,
                             bool shared = false);

// Pages of 64 KiB of the memory that a module imports.
int64_t ImportedPages(const std::string& module);

}  // namespace mxc
