// SPDX-License-Identifier: Apache-2.0
// Reads the names of classes.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::run {

// The names of classes in a file, or a pipe, one a line, as they come with
// weights (synset.txt).
runtime::StatusOr<std::vector<std::string>> ReadLabelFile(
    const std::string& path);

// What is said where an output has another number of values than there are
// names in that file.
inline std::string OtherNames(size_t names, const std::string& output,
                              int64_t values) {
  return "--labels names " + std::to_string(names) + " classes, output '" +
         output + "' has " + std::to_string(values);
}

}  // namespace mxc::run
