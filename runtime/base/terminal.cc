// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
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

std::string CutFront(std::string_view text, std::size_t columns) {
  const auto begins = [](char c) { return (c & 0xc0) != 0x80; };
  const auto size =
      static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
  if (size <= columns) return std::string(text);
  std::size_t at = text.size();
  for (std::size_t kept = 0; kept + 3 < columns; ++kept) {
    do {
      --at;
    } while (!begins(text[at]));
  }
  return "..." + std::string(text.substr(at));
}

}  // namespace mxc::runtime
