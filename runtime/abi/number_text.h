// SPDX-License-Identifier: Apache-2.0
// A word and numbers as text: "product 1 128 …".
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace mxc {

inline std::string WriteNumbers(std::string_view word,
                                std::span<const int64_t* const> numbers) {
  std::string text(word);
  for (const int64_t* number : numbers) text += ' ' + std::to_string(*number);
  return text;
}

// False where the text is something else, or a number is below 0 or above
// `most`.
inline bool ReadNumbers(std::string_view text, std::string_view word,
                        int64_t most, std::span<int64_t* const> numbers) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  for (int64_t* number : numbers) {
    if (!text.starts_with(' ')) return false;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 1, end, *number);
    if (read.ec != std::errc() || *number < 0 || *number > most) return false;
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  }
  return text.empty();
}

}  // namespace mxc
