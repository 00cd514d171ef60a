// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/name_pattern.h"

#include <algorithm>

namespace mxc {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes a number from the front of `name`; what a node counts has few digits.
std::optional<int64_t> TakeNumber(std::string_view& name) {
  constexpr size_t kMostDigits = 9;
  size_t digits = 0;
  int64_t value = 0;
  while (digits < name.size() && IsDigit(name[digits])) {
    if (digits == kMostDigits) return std::nullopt;
    value = 10 * value + (name[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  name.remove_prefix(digits);
  return value;
}

// Where the braces that open at `begin` close; those of ${…} within do not count.
size_t EndOfBraces(std::string_view text, size_t begin) {
  for (size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '}') return at;
    if (text[at] == '$') at = std::min(text.find('}', at), text.size());
  }
  return std::string_view::npos;
}

constexpr size_t kMostAlternatives = 64;
constexpr int kMostBraces = 32;

// Adds what `text` stands for to `all`. False once there are too many.
bool AddAlternatives(const std::string& text, int braces,
                     std::vector<std::string>& all) {
  size_t begin = text.find('{');
  while (begin != std::string::npos && begin > 0 && text[begin - 1] == '$') {
    begin = text.find('{', begin + 1);
  }
  const size_t end =
      begin == std::string::npos ? begin : EndOfBraces(text, begin);
  if (end == std::string::npos) {
    all.push_back(text);
    return all.size() <= kMostAlternatives;
  }
  if (braces == kMostBraces) return false;
  for (size_t at = begin + 1; at <= end;) {
    const size_t comma = std::min(text.find(',', at), end);
    if (!AddAlternatives(text.substr(0, begin) + text.substr(at, comma - at) +
                             text.substr(end + 1),
                         braces + 1, all)) {
      return false;
    }
    at = comma + 1;
  }
  return true;
}

}  // namespace

std::optional<Captured> Match(std::string_view pattern, std::string_view name) {
  Captured captured;
  while (!pattern.empty()) {
    if (pattern == "*") {
      captured.rest = name;
      return captured;
    }
    if (pattern.starts_with("${")) {
      const size_t end = pattern.find('}');
      const auto number = TakeNumber(name);
      if (!number) return std::nullopt;
      captured.scope.values[std::string(pattern.substr(2, end - 2))] =
          IntegerValue(*number);
      pattern.remove_prefix(end + 1);
      continue;
    }
    if (name.empty() || name[0] != pattern[0]) return std::nullopt;
    name.remove_prefix(1);
    pattern.remove_prefix(1);
  }
  if (!name.empty()) return std::nullopt;
  return captured;
}

std::vector<std::string> Alternatives(const std::string& text) {
  std::vector<std::string> all;
  if (!AddAlternatives(text, 0, all)) all.clear();
  return all;
}

std::string NameOf(const std::string& form, const Captured& captured,
                   Budget& budget) {
  const Evaluated text = Substitute(StringValue(form), captured.scope, budget);
  if (!text.error.empty()) return "";
  std::string name = text.value.string;
  if (name.ends_with('*')) name.replace(name.size() - 1, 1, captured.rest);
  return name;
}

}  // namespace mxc
