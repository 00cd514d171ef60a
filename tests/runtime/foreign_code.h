// SPDX-License-Identifier: Apache-2.0
// Code for artifacts that no compiler of ours would write.
#pragma once

#include <string>

namespace mxc::test {

// Where the code leaves a mark that runs LeaveMark().
std::string MarkPath();

// kernels.c and `source`, which may call LeaveMark(), as a shared object made
// by the system's compiler with more `options`. Returns its path, which the
// next call overwrites.
std::string BuildKernels(const std::string& source, const std::string& options);

}  // namespace mxc::test
