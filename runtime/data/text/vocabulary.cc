// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/text/vocabulary.h"

#include <algorithm>
#include <set>

namespace mxc::data {
namespace {

// Bytes of the character that begins with `first`; 0 where none begins so.
size_t Utf8Bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

std::string_view TakeCharacterUnit(std::string_view* text) {
  size_t size = 1;
  if (!text->empty()) {
    const size_t whole = Utf8Bytes(static_cast<unsigned char>(text->front()));
    const auto continues = [](char c) { return (c & 0xc0) == 0x80; };
    if (whole > 1 && whole <= text->size() &&
        std::all_of(text->begin() + 1,
                    text->begin() + static_cast<ptrdiff_t>(whole), continues)) {
      size = whole;
    }
  }
  const std::string_view unit = text->substr(0, size);
  text->remove_prefix(unit.size());
  return unit;
}

std::string_view TakeWord(std::string_view* text) {
  const size_t begin = text->find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) {
    *text = {};
    return {};
  }
  text->remove_prefix(begin);
  const size_t size =
      text->front() == '\n'
          ? 1
          : std::min(text->find_first_of(" \t\r\n"), text->size());
  const std::string_view unit = text->substr(0, size);
  text->remove_prefix(size);
  return unit;
}

}  // namespace

std::string_view TakeUnit(std::string_view* text, TextUnit unit) {
  return unit == TextUnit::kCharacter ? TakeCharacterUnit(text)
                                      : TakeWord(text);
}

Vocabulary::Vocabulary(std::vector<std::string> names)
    : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].empty()) continue;
    numbers_.emplace(names_[i], static_cast<uint32_t>(i));
    const auto first = static_cast<unsigned char>(names_[i][0]);
    if (names_[i].size() == 1 && first < ascii_.size() && !ascii_[first]) {
      ascii_[first] = static_cast<uint32_t>(i);
    }
  }
}

std::optional<uint32_t> Vocabulary::Find(std::string_view unit) const {
  const auto first = static_cast<unsigned char>(unit[0]);
  if (unit.size() == 1 && first < ascii_.size()) return ascii_[first];
  const auto found = numbers_.find(unit);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

Vocabulary Vocabulary::Of(std::string_view text, TextUnit unit, bool of_lines) {
  std::set<std::string, std::less<>> units;
  std::array<bool, 256> seen{};  // single bytes
  while (!text.empty()) {
    const std::string_view next = TakeUnit(&text, unit);
    if (next.empty()) break;
    if (of_lines && (next == "\n" || next == "\r")) continue;
    if (next.size() == 1) {
      seen[static_cast<unsigned char>(next[0])] = true;
    } else if (!units.contains(next)) {
      units.emplace(next);
    }
  }
  for (size_t byte = 0; byte < seen.size(); ++byte) {
    if (seen[byte]) units.emplace(1, static_cast<char>(byte));
  }
  std::vector<std::string> names;
  if (of_lines) names.emplace_back();
  names.insert(names.end(), units.begin(), units.end());
  return Vocabulary(std::move(names));
}

runtime::StatusOr<std::vector<uint32_t>> Vocabulary::Encode(
    std::string_view text, TextUnit unit, const std::string& unknown) const {
  std::vector<uint32_t> numbers;
  if (unit == TextUnit::kCharacter) numbers.reserve(text.size());
  std::optional<uint32_t> stand_in;
  if (!unknown.empty()) stand_in = Find(unknown);
  const size_t size = text.size();
  while (!text.empty()) {
    const size_t at = size - text.size();
    const std::string_view next = TakeUnit(&text, unit);
    if (next.empty()) break;
    auto found = Find(next);
    if (!found) found = stand_in;
    if (!found) {
      return runtime::Fail(runtime::StatusCode::kInvalidArgument,
                           "'%.*s' at byte %zu is not in the vocabulary of %zu "
                           "that the model was trained with",
                           static_cast<int>(std::min<size_t>(next.size(), 40)),
                           next.data(), at, names_.size());
    }
    numbers.push_back(*found);
  }
  return numbers;
}

}  // namespace mxc::data
