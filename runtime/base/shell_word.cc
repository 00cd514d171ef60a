// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/shell_word.h"

#include <algorithm>

namespace mxc::runtime {
namespace {

bool IsPlain(char c) {
  constexpr std::string_view kPlain = "_-./:,+=@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || kPlain.find(c) != kPlain.npos;
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, IsPlain)) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace mxc::runtime
