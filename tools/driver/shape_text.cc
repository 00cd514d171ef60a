// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/shape_text.h"

#include <charconv>

namespace mxc {
namespace {

std::optional<Extents> ParseExtents(std::string_view text) {
  Extents extents;
  while (true) {
    const size_t end = text.find('x');
    const std::string_view digits = text.substr(0, end);
    int64_t extent = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    if (error != std::errc() || stop != digits.data() + digits.size() ||
        extent <= 0) {
      return std::nullopt;
    }
    extents.push_back(extent);
    if (end == text.npos) return extents;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::pair<std::string, Extents>> ParseNamedShape(
    std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return std::nullopt;
  auto extents = ParseExtents(text.substr(colon + 1));
  if (!extents) return std::nullopt;
  return std::pair(std::string(text.substr(0, colon)), std::move(*extents));
}

}  // namespace mxc
