// SPDX-License-Identifier: Apache-2.0
// Characters and what Unicode says of them, by libutf8proc, which is loaded when
// the first text is cut into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::data {

struct Character {
  int32_t code = 0;  // -1: a byte that is no UTF-8
  std::string_view bytes;
};

enum class CharacterKind : uint8_t { kLetter, kNumber, kSpace, kOther };

class Unicode {
 public:
  // The tables, loaded once for the process.
  static runtime::StatusOr<const Unicode*> Get();

  // The characters of a text, whose bytes lie in it.
  std::vector<Character> Characters(std::string_view text) const;
  // \p{L}, \p{N}, White_Space.
  CharacterKind KindOf(int32_t code) const;
  bool IsPunctuation(int32_t code) const;  // \p{P}
  // What cannot be seen: \p{Cc}, \p{Cf}, \p{Co}.
  bool IsControl(int32_t code) const;
  bool IsMark(int32_t code) const;  // \p{Mn}
  int32_t LowerCase(int32_t code) const;
  // Canonical decomposition, with marks in their order (NFD).
  std::vector<int32_t> Decomposed(const std::vector<int32_t>& codes) const;

 private:
  Unicode() = default;
};

// Adds the character as UTF-8.
void AppendUtf8(int32_t code, std::string* text);

}  // namespace mxc::data
