// SPDX-License-Identifier: Apache-2.0
#include "frontend/json/json.h"

#include <algorithm>

namespace mxc {

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (const JsonMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view KindName(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return "a boolean";
    case JsonValue::Kind::kInteger:
      return "an integer";
    case JsonValue::Kind::kReal:
      return "a number";
    case JsonValue::Kind::kString:
      return "a string";
    case JsonValue::Kind::kArray:
      return "a list";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "";
}

std::string PathOf(const JsonValue& value) {
  std::vector<std::string> parts;
  for (const JsonValue* at = &value; at->parent != nullptr; at = at->parent) {
    const JsonValue& parent = *at->parent;
    parts.push_back(parent.Is(JsonValue::Kind::kArray)
                        ? fmt::format("[{}]", at->position)
                        : "." + parent.members[at->position].key);
  }
  std::string path;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path += *part;
  if (path.starts_with('.')) path.erase(0, 1);
  return path;
}

SourceLoc JsonDocument::At(uint32_t begin, uint32_t end,
                           std::string path) const {
  const auto line = std::ranges::upper_bound(line_starts_, begin) - 1;
  SourceLoc loc;
  loc.file = source_;
  loc.line = static_cast<uint32_t>(line - line_starts_.begin()) + 1;
  loc.column = begin - *line + 1;
  loc.length = std::max<uint32_t>(1, end - begin);
  loc.path = std::move(path);
  return loc;
}

SourceLoc JsonDocument::Locate(const JsonValue& value) const {
  uint32_t begin = value.begin, end = value.end;
  if (value.Is(JsonValue::Kind::kString) && end - begin > 2) {
    ++begin, --end;
  } else if (value.Is(JsonValue::Kind::kArray) ||
             value.Is(JsonValue::Kind::kObject)) {
    end = begin + 1;
  }
  return At(begin, end, PathOf(value));
}

SourceLoc JsonDocument::LocateKey(const JsonValue& object,
                                  const JsonMember& member) const {
  const std::string path = PathOf(object);
  return At(member.begin + 1, member.end - 1,
            path.empty() ? member.key : path + "." + member.key);
}

std::string_view JsonDocument::Text(const JsonValue& value) const {
  return std::string_view(source_->text)
      .substr(value.begin, value.end - value.begin);
}

bool JsonDiagnostics::Expect(const JsonValue& value, JsonValue::Kind kind,
                             std::string_view what) {
  if (value.Is(kind)) return true;
  Fail(value, "{} is {}, expected {}", what, KindName(value.kind),
       KindName(kind));
  return false;
}

void JsonDiagnostics::Report(Diagnostic error) {
  const uint64_t place =
      uint64_t{error.loc.line} << 32 | uint64_t{error.loc.column};
  if (reported_.emplace(place, error.message).second) {
    errors_.push_back(std::move(error));
  }
}

}  // namespace mxc
