// SPDX-License-Identifier: Apache-2.0
#include "ir/support/wildcard.h"

#include <fnmatch.h>

namespace mxc {

bool MatchesWildcard(const std::string& pattern, const std::string& name) {
  return pattern == name || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace mxc
