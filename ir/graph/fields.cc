// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace mxc {
namespace {

using MaybeError = std::optional<std::string>;

std::string_view Trim(std::string_view text) {
  while (!text.empty() &&
         std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() &&
         std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool ParseInt(std::string_view text, int64_t& value) {
  text = Trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() &&
         !text.empty();
}

bool ParseDouble(std::string_view text, double& value) {
  const std::string copy(Trim(text));
  if (copy.empty()) return false;
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size();
}

bool ParseBool(std::string_view text, bool& value) {
  const std::string lower = Lower(text);
  value = lower == "true" || lower == "1";
  return value || lower == "false" || lower == "0";
}

bool IsNone(std::string_view text) { return Trim(text) == "None"; }

// "(1, 2,)", "[1,2]", "3", "()": the elements; an integer may carry a Python 2
// suffix L. Brackets need not match, as in dmlc::Tuple.
std::optional<std::vector<std::string_view>> Elements(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return std::nullopt;
  const bool open = text.front() == '(' || text.front() == '[';
  if (open) {
    const char last = text.back();
    if (text.size() < 2 || (last != ')' && last != ']')) return std::nullopt;
    text = Trim(text.substr(1, text.size() - 2));
  }
  if (!open) return std::vector{text};
  std::vector<std::string_view> elements;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    elements.push_back(Trim(text.substr(0, comma)));
    if (elements.back().empty()) return std::nullopt;
    if (comma == std::string_view::npos) break;
    text = Trim(text.substr(comma + 1));
  }
  return elements;
}

// Rules look at the elements of a list in pairs: axes, and the dimensions of
// what a list of sizes makes.
constexpr size_t kMostElements = 1024;

MaybeError TooMany(std::span<const std::string_view> elements) {
  if (elements.size() <= kMostElements) return std::nullopt;
  return fmt::format("a list of {}, expected at most {}", elements.size(),
                     kMostElements);
}

std::string_view WithoutLongSuffix(std::string_view text) {
  if (text.size() > 1 && text.back() == 'L') text.remove_suffix(1);
  return text;
}

// Checks a number against the field's bounds.
MaybeError InRange(const Field& field, double value) {
  if (value >= field.min && value <= field.max) return std::nullopt;
  if (std::isinf(field.max)) {
    return fmt::format("{}, expected at least {}", value, field.min);
  }
  return fmt::format("{}, expected {} to {}", value, field.min, field.max);
}

// Where a field states no bound an integer still has one, so that what rules
// add to it and subtract from it has 64 bits to spare.
MaybeError InRange(const Field& field, int64_t value) {
  constexpr double kMost = static_cast<double>(kMaxTensorBytes);
  const auto number = static_cast<double>(value);
  if (auto error = InRange(field, number)) return error;
  const bool stated =
      number < 0 ? std::isfinite(field.min) : std::isfinite(field.max);
  if (stated || std::abs(number) <= kMost) return std::nullopt;
  return fmt::format("{}, expected {} to {}", value,
                     std::max(field.min, -kMost), kMost);
}

MaybeError Parse(Field&, bool* value, std::string_view text) {
  if (ParseBool(text, *value)) return std::nullopt;
  return fmt::format("'{}', expected True or False", text);
}

MaybeError Parse(Field& field, int64_t* value, std::string_view text) {
  if (!ParseInt(text, *value)) {
    return fmt::format("'{}', expected an integer", text);
  }
  return InRange(field, *value);
}

MaybeError Parse(Field& field, double* value, std::string_view text) {
  if (!ParseDouble(text, *value)) {
    return fmt::format("'{}', expected a number", text);
  }
  return std::isnan(*value) ? std::nullopt : InRange(field, *value);
}

MaybeError NotOneOf(const Field& field, std::string_view text) {
  return fmt::format("'{}', expected one of {}", text,
                     fmt::join(field.one_of, ", "));
}

MaybeError Parse(Field& field, std::string* value, std::string_view text) {
  *value = text;
  if (field.one_of.empty() ||
      std::ranges::find(field.one_of, text) != field.one_of.end()) {
    return std::nullopt;
  }
  return NotOneOf(field, text);
}

MaybeError Parse(Field& field, EnumRef value, std::string_view text) {
  const auto found = std::ranges::find(field.one_of, text);
  if (found == field.one_of.end()) return NotOneOf(field, text);
  *value.value = static_cast<int>(found - field.one_of.begin());
  return std::nullopt;
}

MaybeError Parse(Field&, DType* value, std::string_view text) {
  const auto dtype = DTypeFromMxnetName(text);
  if (!dtype) {
    return fmt::format("'{}', expected an element type such as float32", text);
  }
  *value = *dtype;
  return std::nullopt;
}

MaybeError Parse(Field& field, Extents* value, std::string_view text) {
  value->clear();
  // MXNet's unknown shape; for a tuple that has a default it means "not given".
  if (IsNone(text)) return std::nullopt;
  const auto elements = Elements(text);
  if (!elements) {
    return fmt::format("'{}', expected integers such as (3, 3)", text);
  }
  if (auto error = TooMany(*elements)) return error;
  for (const std::string_view element : *elements) {
    int64_t number = 0;
    if (!ParseInt(WithoutLongSuffix(element), number)) {
      return fmt::format("'{}', expected integers such as (3, 3)", text);
    }
    if (auto error = InRange(field, number)) {
      return fmt::format("'{}' has {}", text, *error);
    }
    value->push_back(number);
  }
  return std::nullopt;
}

MaybeError Parse(Field& field, std::vector<double>* value,
                 std::string_view text) {
  value->clear();
  const auto elements = Elements(text);
  if (!elements) {
    return fmt::format("'{}', expected numbers such as (0.1, 0.2)", text);
  }
  if (auto error = TooMany(*elements)) return error;
  for (const std::string_view element : *elements) {
    double number = 0;
    if (!ParseDouble(element, number)) {
      return fmt::format("'{}', expected numbers such as (0.1, 0.2)", text);
    }
    if (auto error = InRange(field, number)) return error;
    value->push_back(number);
  }
  return std::nullopt;
}

MaybeError Parse(Field&, std::vector<std::optional<int64_t>>* value,
                 std::string_view text) {
  value->clear();
  if (IsNone(text)) {
    value->push_back(std::nullopt);
    return std::nullopt;
  }
  const auto elements = Elements(text);
  if (!elements) {
    return fmt::format("'{}', expected integers or None", text);
  }
  if (auto error = TooMany(*elements)) return error;
  for (const std::string_view element : *elements) {
    int64_t number = 0;
    if (element == "None") {
      value->push_back(std::nullopt);
    } else if (ParseInt(WithoutLongSuffix(element), number)) {
      value->push_back(number);
    } else {
      return fmt::format("'{}', expected integers or None", text);
    }
  }
  return std::nullopt;
}

template <class T>
MaybeError Parse(Field& field, std::optional<T>* value, std::string_view text) {
  if (IsNone(text) || (std::is_same_v<T, bool> && Lower(text) == "none")) {
    value->reset();
    return std::nullopt;
  }
  if constexpr (std::is_same_v<T, int64_t>)
    text = WithoutLongSuffix(Trim(text));
  T parsed{};
  auto error = Parse(field, &parsed, text);
  if (error) return *error + " or None";
  *value = std::move(parsed);
  return std::nullopt;
}

std::string Show(const Field&, bool value) { return PrintBool(value); }
std::string Show(const Field&, int64_t value) { return std::to_string(value); }
std::string Show(const Field&, double value) {
  return fmt::format("{}", value);
}
std::string Show(const Field&, const std::string& value) { return value; }
std::string Show(const Field& field, EnumRef ref) {
  return std::string(field.one_of.at(static_cast<size_t>(*ref.value)));
}
std::string Show(const Field&, DType value) {
  return value == DType::kUnknown ? "None" : std::string(MxnetName(value));
}
template <class T>
std::string Show(const Field& field, const std::vector<T>& list);
template <class T>
std::string Show(const Field& field, const std::optional<T>& value) {
  return value ? Show(field, *value) : "None";
}
template <class T>
std::string Show(const Field& field, const std::vector<T>& list) {
  std::string out = "(";
  for (size_t i = 0; i < list.size(); ++i) {
    out += (i > 0 ? ", " : "") + Show(field, list[i]);
  }
  return out + (list.size() == 1 ? ",)" : ")");
}

}  // namespace

std::optional<std::string> ParseField(Field& field, std::string_view text) {
  auto error = std::visit(
      [&](auto value) -> MaybeError { return Parse(field, value, text); },
      field.value);
  if (!error) return std::nullopt;
  return fmt::format("{} is {}", field.name, *error);
}

std::string PrintField(const Field& field) {
  return std::visit(
      [&](auto value) -> std::string {
        if constexpr (std::is_same_v<decltype(value), EnumRef>) {
          return Show(field, value);
        } else {
          return Show(field, *value);
        }
      },
      field.value);
}

std::string PrintBool(bool value) { return value ? "True" : "False"; }

namespace {

// One line of any text, and back.
std::string AsLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' || c == '\\') line += '\\';
    line += c == '\n' ? 'n' : c;
  }
  return line;
}

std::string OfLine(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < line.size();
    if (escaped) ++i;
    text += escaped && line[i] == 'n' ? '\n' : line[i];
  }
  return text;
}

}  // namespace

std::string PrintAttrLines(const std::vector<AttrText>& attrs) {
  std::string lines;
  for (const auto& [name, text] : attrs) {
    lines += fmt::format("{}={}\n", name, AsLine(text));
  }
  return lines;
}

std::vector<AttrText> ParseAttrLines(std::string_view lines) {
  std::vector<AttrText> attrs;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at), equals = lines.find('=', at);
    if (end == lines.npos || equals > end) break;
    attrs.emplace_back(lines.substr(at, equals - at),
                       OfLine(lines.substr(equals + 1, end - equals - 1)));
    at = end + 1;
  }
  return attrs;
}

}  // namespace mxc
