// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::run {

// The names of classes in a file, or a pipe, one a line, as they come with
// weights (synset.txt).
runtime::StatusOr<std::vector<std::string>> ReadLabelFile(
    const std::string& path);

}  // namespace mxc::run
