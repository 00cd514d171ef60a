// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/space.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "runtime/base/joined.h"
#include "runtime/base/number_text.h"
#include "runtime/train/specification.h"

namespace mxc::tune {
namespace {

constexpr const char* kForms =
    "NAME=log(LOW,HIGH), uniform(LOW,HIGH), int(LOW,HIGH) or choice(A,B,...)";
constexpr double kMostInteger = 0x1p53;

struct KindName {
  const char* name;
  Dimension::Kind kind;
};
constexpr KindName kKinds[] = {{"log", Dimension::Kind::kLog},
                               {"uniform", Dimension::Kind::kUniform},
                               {"int", Dimension::Kind::kInt},
                               {"choice", Dimension::Kind::kChoice}};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The values between the parentheses; commas within inner ones belong to a value.
std::vector<std::string> SplitValues(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  for (std::string& value : values) value = std::string(Trimmed(value));
  return values;
}

Status Wrong(std::string_view text, const std::string& why) {
  return Fail(StatusCode::kInvalidArgument, "search '%s': %s",
              std::string(text).c_str(), why.c_str());
}

// What is wrong with the ends of a range; empty: nothing.
std::string WrongEnds(const Dimension& dimension) {
  if (!(dimension.low < dimension.high)) {
    return "the first number must be below the second one";
  }
  if (dimension.kind == Dimension::Kind::kLog && dimension.low <= 0) {
    return "the numbers of log must be above 0";
  }
  if (dimension.kind != Dimension::Kind::kInt) return "";
  const bool whole = dimension.low == std::floor(dimension.low) &&
                     dimension.high == std::floor(dimension.high) &&
                     std::abs(dimension.low) <= kMostInteger &&
                     std::abs(dimension.high) <= kMostInteger;
  return whole ? "" : "the numbers of int must be whole";
}

Status ReadRange(std::string_view text, const std::vector<std::string>& values,
                 Dimension& dimension) {
  if (values.size() != 2 || !train::ParseNumber(values[0], dimension.low) ||
      !train::ParseNumber(values[1], dimension.high) ||
      !std::isfinite(dimension.low) || !std::isfinite(dimension.high)) {
    return Wrong(text, "expected two numbers in the parentheses");
  }
  const std::string wrong = WrongEnds(dimension);
  return wrong.empty() ? Status() : Wrong(text, wrong);
}

Status ReadChoices(std::string_view text, std::vector<std::string> values,
                   Dimension& dimension) {
  for (const std::string& value : values) {
    if (value.empty()) return Wrong(text, "a value of choice is empty");
    if (std::ranges::count(values, value) > 1) {
      return Wrong(text, "'" + value + "' is there twice");
    }
  }
  dimension.choices = std::move(values);
  return {};
}

}  // namespace

StatusOr<Dimension> ParseDimension(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t open = text.find('(', equals == text.npos ? 0 : equals);
  if (equals == text.npos || open == text.npos || text.back() != ')' ||
      Trimmed(text.substr(0, equals)).empty()) {
    return Wrong(text, std::string("expected ") + kForms);
  }
  Dimension dimension;
  dimension.name = Trimmed(text.substr(0, equals));
  const std::string kind(Trimmed(text.substr(equals + 1, open - equals - 1)));
  const auto* known = std::ranges::find_if(
      kKinds, [&](const KindName& row) { return row.name == kind; });
  if (known == std::end(kKinds)) {
    return Wrong(text, "'" + kind + "' is unknown; expected " + kForms);
  }
  dimension.kind = known->kind;
  std::vector<std::string> values =
      SplitValues(text.substr(open + 1, text.size() - open - 2));
  MXC_RT_RETURN_IF_ERROR(dimension.kind == Dimension::Kind::kChoice
                             ? ReadChoices(text, std::move(values), dimension)
                             : ReadRange(text, values, dimension));
  return dimension;
}

StatusOr<Space> ParseSpace(const std::vector<std::string>& texts) {
  Space space;
  std::vector<std::string> wrong;
  for (const std::string& text : texts) {
    auto dimension = ParseDimension(text);
    if (!dimension.ok()) {
      wrong.push_back(dimension.status().message());
      continue;
    }
    if (std::ranges::count(space, dimension->name, &Dimension::name) > 0) {
      wrong.push_back("search '" + text + "': '" + dimension->name +
                      "' is searched twice");
    }
    space.push_back(std::move(*dimension));
  }
  if (wrong.empty()) return space;
  return Status(StatusCode::kInvalidArgument, runtime::Joined(wrong, "; "));
}

std::string Dimension::At(double position) const {
  const auto within = [&](double value) {
    return std::clamp(value, low, high);
  };
  char text[40];
  switch (kind) {
    case Kind::kChoice: {
      const auto count = static_cast<double>(choices.size());
      const auto index = static_cast<size_t>(position * count);
      return choices[std::min(index, choices.size() - 1)];
    }
    case Kind::kInt:
      std::snprintf(text, sizeof text, "%.0f",
                    within(low + std::floor(position * (high - low + 1))));
      return text;
    case Kind::kLog:
      std::snprintf(text, sizeof text, "%.6g",
                    within(low * std::pow(high / low, position)));
      return text;
    case Kind::kUniform:
      break;
  }
  std::snprintf(text, sizeof text, "%.6g",
                within(low + position * (high - low)));
  return text;
}

std::string Dimension::ToString() const {
  const auto* row = std::ranges::find(kKinds, kind, &KindName::kind);
  const std::string values =
      kind == Kind::kChoice
          ? runtime::Joined(choices, ",")
          : runtime::ShortestText(low) + "," + runtime::ShortestText(high);
  return name + "=" + row->name + "(" + values + ")";
}

}  // namespace mxc::tune
