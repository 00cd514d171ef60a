// SPDX-License-Identifier: Apache-2.0
// Loads the shared object that an open file begins with.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/file.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// What dlopen gives for the file, which is `path` unless that names another one
// by now. Two files of one checksum count as one library. A circumstance that
// forbids code of the file to run is named: it says nothing about the file.
StatusOr<void*> LoadLibrary(const Descriptor& file, const std::string& path,
                            uint64_t checksum);

}  // namespace mxc::runtime
