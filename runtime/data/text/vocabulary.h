// SPDX-License-Identifier: Apache-2.0
// Text as numbers: one for every character or word.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::data {

enum class TextUnit { kCharacter, kWord };

// The first unit of `text`, which it takes away: a character of UTF-8, or a
// single byte where that is damaged; or a word with spaces around it dropped
// ("\n" is a word). Empty at the end.
std::string_view TakeUnit(std::string_view* text, TextUnit unit);

class Vocabulary {
 public:
  // `names[0]` may be empty: the number of padding.
  explicit Vocabulary(std::vector<std::string> names);
  // The units of `text`, sorted. `of_lines`: without the ends of lines, and
  // from 1 on, since 0 fills lines up.
  static Vocabulary Of(std::string_view text, TextUnit unit, bool of_lines);

  const std::vector<std::string>& names() const { return names_; }
  // The text's units by number; those it lacks as `unknown`, refused where that
  // is empty or itself unknown.
  runtime::StatusOr<std::vector<uint32_t>> Encode(
      std::string_view text, TextUnit unit, const std::string& unknown) const;

 private:
  std::optional<uint32_t> Find(std::string_view unit) const;

  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> numbers_;
  std::array<std::optional<uint32_t>, 128> ascii_;  // the same, found at once
};

}  // namespace mxc::data
