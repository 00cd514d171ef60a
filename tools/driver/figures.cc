// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/figures.h"

#include <fmt/format.h>

namespace mxc {

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1023.95) return fmt::format("{:.1f} KiB", kib);
  if (kib < 1023.95 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.2f} GiB", kib / 1024 / 1024);
}

std::string FormatSeconds(double seconds) {
  if (seconds < 0.00095) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.00995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  return fmt::format("{:.1f} s", seconds);
}

std::string Count(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace mxc
