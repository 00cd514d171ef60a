// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/train/specification.h"

namespace mxc::train {
namespace {

using Json = nlohmann::ordered_json;

// As Python writes it, of whose values these are the text.
std::optional<std::string> TextOf(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "None";
    case Json::value_t::boolean:
      return value.get<bool>() ? "True" : "False";
    case Json::value_t::string:
      return value.get<std::string>();
    case Json::value_t::object:
      return std::nullopt;
    default:
      return value.dump();
  }
}

bool Read(const Json& json, Specification& result) {
  const bool named = json.is_array() && !json.empty() && json[0].is_string();
  if (!named || json.size() > 2) return false;
  result.name = LowerCase(json[0].get<std::string>());
  if (json.size() == 1) return true;
  if (!json[1].is_object()) return false;
  for (const auto& [key, value] : json[1].items()) {
    std::optional<std::string> text = TextOf(value);
    if (key.empty() || !text) return false;
    result.arguments.push_back({key, std::move(*text)});
  }
  return true;
}

// Of brackets, those in strings counted, too: writing a value back recurses.
bool IsNestedDeeply(std::string_view text) {
  constexpr int kMost = 32;
  int depth = 0;
  return std::ranges::any_of(text, [&](char c) {
    depth += c == '[' || c == '{';
    depth -= c == ']' || c == '}';
    return depth > kMost;
  });
}

}  // namespace

StatusOr<Specification> ParseJsonSpecification(std::string_view text) {
  constexpr bool kThrow = false;
  Specification result;
  if (!IsNestedDeeply(text) &&
      Read(Json::parse(text, nullptr, kThrow), result)) {
    return result;
  }
  return Fail(StatusCode::kInvalidArgument,
              "expected [\"name\", {\"key\": value}], but found '%.*s'",
              static_cast<int>(std::min(text.size(), size_t{200})),
              text.data());
}

}  // namespace mxc::train
