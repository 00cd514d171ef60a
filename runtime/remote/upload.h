// SPDX-License-Identifier: Apache-2.0
// A file to a server, in one request or in parts that are sent side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/remote/location.h"
#include "runtime/remote/request.h"

namespace mxc::remote {

// The first bytes of a file that nobody writes to meanwhile.
struct Source {
  int file = -1;  // of the caller
  uint64_t bytes = 0;
};

// More than this goes in parts.
inline constexpr uint64_t kPartBytes = 16 << 20;
// How large parts are where there may be so many at most.
uint64_t PartBytes(uint64_t bytes, uint64_t most_parts);

// Sends all of it as the body of a PUT; servers then have the object, or have what
// they had.
runtime::Status PutWhole(const Location& location, const Source& source,
                         Question question);

// Sends the parts, a few at a time, each until a server has it. `question` says
// where part 0, 1, … goes. Returns what the server calls each (ETag).
runtime::StatusOr<std::vector<std::string>> PutParts(
    const Location& location, const Source& source, uint64_t part_bytes,
    const std::function<Question(size_t part)>& question);

}  // namespace mxc::remote
