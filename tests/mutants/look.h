// SPDX-License-Identifier: Apache-2.0
// All that is shown of an artifact without running it.
#pragma once

#include <string>

namespace mxc::test {

// As mxc inspect does with every option but --run, and mxc dot. What is printed
// goes nowhere: standard output is closed by the first call. Returns whether the
// artifact could be read.
bool LookAt(const std::string& path);

}  // namespace mxc::test
