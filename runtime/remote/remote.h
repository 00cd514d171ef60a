// SPDX-License-Identifier: Apache-2.0
// Files by URL (location.h). What is read is copied into a cache, by what the
// server calls its version, so that it is read from the disk the next time; what
// is written is there whole, or not at all.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace mxc::remote {

// The path of a file with the object's bytes; `name` itself where it is no URL.
// The server is asked each time whether the copy is still the object; the copy
// is in mxc/remote in $XDG_CACHE_HOME or ~/.cache, which $MXC_REMOTE_CACHE
// replaces. A copy that is there is whole. Any thread.
runtime::StatusOr<std::string> LocalCopy(const std::string& name);

// Every file may be a URL from now on (base/remote_files.h).
void AllowUrls();

}  // namespace mxc::remote
