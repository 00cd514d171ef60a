// SPDX-License-Identifier: Apache-2.0
// Names a part of a nameless file, which lives as long as one of its parts.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/nameless_file.h"

namespace mxc::runtime {

// Bytes of a file that has no name: of what is too large to be in memory.
struct FilePiece {
  std::shared_ptr<const NamelessFile> file;
  uint64_t offset = 0, bytes = 0;
};

}  // namespace mxc::runtime
