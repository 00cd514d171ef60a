// SPDX-License-Identifier: Apache-2.0
// Quotes text for commands that a user may copy.
#pragma once

#include <string>
#include <string_view>

namespace mxc::runtime {

// The text as one word of a POSIX shell: as it is, in quotes where it must be.
std::string ShellWord(std::string_view text);

}  // namespace mxc::runtime
