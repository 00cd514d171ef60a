// SPDX-License-Identifier: Apache-2.0
// Options by the names that other programs give them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace mxc {

// What to write in `command` instead of the option `name` of other programs,
// with an example of a value; empty where nobody calls anything so.
std::string_view SynonymOf(const CLI::App& command, std::string name);

}  // namespace mxc
