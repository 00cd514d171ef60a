// SPDX-License-Identifier: Apache-2.0
#include "tests/support/archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace mxc {
namespace {

constexpr size_t kBlock = 512;

std::string Text(std::string_view field) {
  return std::string(field.substr(0, field.find('\0')));
}

// The value of a pax header's `path` record: "<length> path=<value>\n".
std::string PaxPath(std::string_view records) {
  while (!records.empty()) {
    const size_t length =
        std::strtoul(std::string(records).c_str(), nullptr, 10);
    if (length == 0 || length > records.size()) break;
    const std::string_view record = records.substr(0, length - 1);
    const size_t key = record.find(' ') + 1;
    if (record.substr(key).starts_with("path=")) {
      return std::string(record.substr(key + 5));
    }
    records.remove_prefix(length);
  }
  return "";
}

}  // namespace

std::optional<std::string> ReadGzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string out;
  char buffer[1 << 16];
  int count = 0;
  while ((count = gzread(file, buffer, sizeof buffer)) > 0) {
    out.append(buffer, static_cast<size_t>(count));
  }
  const bool complete = gzclose(file) == Z_OK && count == 0;
  return complete ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::map<std::string, std::string>> ReadArchive(
    const std::string& path) {
  const auto tar = ReadGzip(path);
  if (!tar) return std::nullopt;
  std::map<std::string, std::string> files;
  std::string long_name;
  std::string_view rest = *tar;
  while (rest.size() >= kBlock && rest[0] != '\0') {
    const std::string_view header = rest.substr(0, kBlock);
    const size_t size =
        std::strtoul(Text(header.substr(124, 12)).c_str(), nullptr, 8);
    rest.remove_prefix(kBlock);
    if (size > rest.size()) return std::nullopt;
    const std::string_view content = rest.substr(0, size);
    const char type = header[156];
    std::string name = Text(header.substr(0, 100));
    if (const std::string prefix = Text(header.substr(345, 155));
        !prefix.empty()) {
      name = prefix + "/" + name;
    }
    if (!long_name.empty()) name = long_name;
    long_name.clear();
    if (type == 'L') long_name = Text(content);
    if (type == 'x') long_name = PaxPath(content);
    if (type == '0' || type == '\0') files[name] = content;
    rest.remove_prefix(
        std::min(rest.size(), (size + kBlock - 1) / kBlock * kBlock));
  }
  return files;
}

}  // namespace mxc
