// SPDX-License-Identifier: Apache-2.0
#include "tools/usage/errors_json.h"

#include <filesystem>
#include <system_error>

namespace mxc {

nlohmann::ordered_json ErrorsJson(const std::vector<std::string>& messages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& message : messages) {
    list.push_back({{"file", FileNamedBy(message)},
                    {"line", 0},
                    {"column", 0},
                    {"path", ""},
                    {"message", message},
                    {"notes", nlohmann::ordered_json::array()}});
  }
  return {{"errors", list}, {"count", list.size()}};
}

namespace {

// "net.mxa: damaged", "'key.pem' holds no key": of the file that has this name.
std::string FileAtBegin(std::string_view message) {
  const bool quoted = message.starts_with('\'');
  if (quoted) message.remove_prefix(1);
  const size_t end = quoted ? message.find('\'') : message.find(": ");
  if (end == std::string_view::npos) return "";
  std::string name(message.substr(0, end));
  std::error_code error;
  return std::filesystem::is_regular_file(name, error) ? name : "";
}

}  // namespace

std::string FileNamedBy(std::string_view message) {
  if (std::string name = FileAtBegin(message); !name.empty()) return name;
  const size_t open = message.find('\'');
  if (open == std::string_view::npos) return "";
  const std::string_view before = message.substr(0, open);
  const size_t close = message.find('\'', open + 1);
  if (close == std::string_view::npos) return "";
  const std::string_view after = message.substr(close + 1);
  const size_t cannot = before.rfind("cannot ");
  // "cannot open ", one word after it; or the name is the beginning.
  const bool acts = cannot != std::string_view::npos && before.ends_with(' ') &&
                    before.find(' ', cannot + 7) == before.size() - 1;
  if (!acts && !(before.empty() && after.starts_with(": "))) return "";
  return std::string(message.substr(open + 1, close - open - 1));
}

}  // namespace mxc
