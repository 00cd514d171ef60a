// SPDX-License-Identifier: Apache-2.0
// What only a back end understands: facts of a target, and wishes of the user,
// by name. Each back end says which names it takes (codegen/backend.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mxc {

using BackEndOptions = std::map<std::string, std::string, std::less<>>;

// Empty if there is none of that name.
inline std::string_view OptionOf(const BackEndOptions& options,
                                 std::string_view name) {
  const auto found = options.find(name);
  return found == options.end() ? std::string_view() : found->second;
}

}  // namespace mxc
