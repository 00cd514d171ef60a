// SPDX-License-Identifier: Apache-2.0
// Files that a command writes beside those that it reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::run {

// "x.npy" and "y.npy" of the source of data "npy:x.npy,y.npy".
std::vector<std::string> FilesOfSource(const std::string& source);

// Refuses what could not be written, one of the files that the command reads,
// and a file that by its name is something else than what ends with `own`
// (".npy"). An empty path is none.
runtime::Status RequireWritable(const std::string& path,
                                const std::vector<std::string>& inputs,
                                std::string_view own);

}  // namespace mxc::run
