// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace mxc::runtime {

bool RedrawsLines(int descriptor) {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return !dumb && isatty(descriptor) != 0;
}

}  // namespace mxc::runtime
