// SPDX-License-Identifier: Apache-2.0
// Words that a shell offers where other texts are taken, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mxc::manual {

// By an option's name, "--metric", or a positional's of its command, "ops
// NAME"; of others nothing.
std::vector<std::string> WordsOf(std::string_view option);

}  // namespace mxc::manual
