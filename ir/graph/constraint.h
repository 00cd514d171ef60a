// SPDX-License-Identifier: Apache-2.0
// What an operator asks has a name in the operator's comment, and what it says of
// a violation begins with that: "C4: kernel (3, 3) exceeds …".
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace mxc {

struct Violation {
  std::string constraint;  // "C4", for tests; empty: it has no name
  std::string sentence;    // what people read
};

inline Violation ReadViolation(std::string_view text) {
  size_t at = 1;
  while (at < text.size() &&
         std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
    ++at;
  }
  const bool named =
      at > 1 && text.starts_with('C') && text.substr(at).starts_with(": ");
  if (!named) return {"", std::string(text)};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 2))};
}

}  // namespace mxc
