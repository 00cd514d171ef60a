// SPDX-License-Identifier: Apache-2.0
// Finds the folder of caches.
#pragma once

#include <filesystem>

namespace mxc {

// Where the tools keep what can be made again: mxc in $XDG_CACHE_HOME or
// ~/.cache; empty where there is no home.
std::filesystem::path CacheFolder();

}  // namespace mxc
