// SPDX-License-Identifier: Apache-2.0
// The names that a relocatable object shows to the linker.
#pragma once

#include <span>
#include <string>

namespace mxc {

// The object with another name for its symbol `from`.
std::string RenameSymbol(const std::string& object, const std::string& from,
                         const std::string& to);

// The object with only these of its symbols visible to others: whatever else
// it defines cannot clash with another object's.
std::string HideSymbolsBut(std::span<const std::string> names,
                           const std::string& object);

}  // namespace mxc
