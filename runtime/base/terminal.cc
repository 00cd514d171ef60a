// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace mxc::runtime {

bool RedrawsLines(int descriptor) {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return !dumb && isatty(descriptor) != 0;
}

std::size_t TerminalColumns(int descriptor) {
  winsize size = {};
  const bool said =
      isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return said ? size.ws_col : 0;
}

}  // namespace mxc::runtime
