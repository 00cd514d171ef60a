// SPDX-License-Identifier: Apache-2.0
// Joins words with a separator.
#pragma once

#include <string>
#include <string_view>

namespace mxc::runtime {

// Words in one text, with the separator between them.
template <class Words>
std::string Joined(const Words& words, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const std::string_view word : words) {
    if (!first) text += separator;
    text += word;
    first = false;
  }
  return text;
}

}  // namespace mxc::runtime
