// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/manifest.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace mxc::runtime {

std::vector<std::string> ManifestValues(std::string_view manifest,
                                        std::string_view key) {
  std::vector<std::string> values;
  while (!manifest.empty()) {
    const size_t end = std::min(manifest.find('\n'), manifest.size());
    std::string_view line = manifest.substr(0, end);
    manifest.remove_prefix(std::min(end + 1, manifest.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(": ")) values.emplace_back(line.substr(2));
  }
  return values;
}

std::vector<std::string> KernelsOf(std::string_view line, size_t steps) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= line.size() && names.size() <= steps;) {
    const size_t end = std::min(line.find(kBetweenKernels, begin), line.size());
    names.emplace_back(line.substr(begin, end - begin));
    begin = end + kBetweenKernels.size();
  }
  if (names.size() != steps) names.clear();
  return names;
}

std::vector<bool> RowsOf(std::string_view line, size_t steps) {
  std::vector<bool> rows(steps);
  for (const char *at = line.data(), *end = at + line.size(); at < end; ++at) {
    size_t row = 0;
    const auto read = std::from_chars(at, end, row);
    if (read.ec == std::errc() && row < steps) rows[row] = true;
    at = std::max(at, read.ptr);
    if (at == end) break;
  }
  return rows;
}

}  // namespace mxc::runtime
