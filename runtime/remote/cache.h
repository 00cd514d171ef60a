// SPDX-License-Identifier: Apache-2.0
// Where copies of objects are, by what the server calls the object's version.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/remote/object.h"

namespace mxc::remote {

// The path of the copy of what a URL without secrets shows: in mxc/remote in
// $XDG_CACHE_HOME or ~/.cache, which $MXC_REMOTE_CACHE replaces.
runtime::StatusOr<std::string> PathOfCopy(const std::string& shown,
                                          const ObjectFacts& facts);

// Returns whether that copy can be read; one that is there is whole. It counts as
// used then.
bool IsThere(const std::string& path, const ObjectFacts& facts);

// Removes what was used longest ago until so many bytes more are no more than
// $MXC_REMOTE_CACHE_BYTES; without one nothing is removed.
runtime::Status MakeRoom(const std::string& shown, uint64_t bytes);

}  // namespace mxc::remote
