// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mxc {

// The relocatable object with another name for its symbol `from`.
std::string RenameSymbol(const std::string& object, const std::string& from,
                         const std::string& to);

}  // namespace mxc
