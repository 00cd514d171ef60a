// SPDX-License-Identifier: Apache-2.0
// Where the test data lie that are no part of the project.
#pragma once

#include <string>

namespace mxc {

// $MXC_SHARED, or ../shared beside the repository (or one folder further up);
// empty when there is none: cases that need it are of the test suite "shared"
// and say "skipped: no shared cases", which ctest hears.
std::string SharedFolder();

// The repository itself.
std::string SourceFolder();

// The text of a file; empty if it cannot be read.
std::string ReadText(const std::string& path);

}  // namespace mxc
