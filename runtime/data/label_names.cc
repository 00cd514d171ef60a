// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/label_names.h"

#include <algorithm>
#include <charconv>

namespace mxc::data {
namespace {

bool IsPlain(unsigned char byte) {
  return byte > ' ' && byte != '\\' && byte != 0x7f;
}

// Appends a word with its escapes undone; false where one is wrong.
bool Unescape(std::string_view word, std::string& name) {
  while (!word.empty()) {
    if (word[0] != '\\') {
      const size_t plain = std::min(word.find('\\'), word.size());
      name += word.substr(0, plain);
      word.remove_prefix(plain);
      continue;
    }
    unsigned byte = 0;
    if (word.size() < 4 || word[1] != 'x') return false;
    const char* end = word.data() + 4;
    const auto [stop, error] = std::from_chars(word.data() + 2, end, byte, 16);
    if (error != std::errc() || stop != end) return false;
    name += static_cast<char>(byte);
    word.remove_prefix(4);
  }
  return true;
}

}  // namespace

std::string LabelNamesText(std::span<const std::string> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ' ';
    for (const char c : names[i]) {
      const auto byte = static_cast<unsigned char>(c);
      text +=
          IsPlain(byte) ? std::string(1, c) : runtime::Format("\\x%02x", byte);
    }
  }
  return text;
}

runtime::StatusOr<std::vector<std::string>> ParseLabelNames(
    std::string_view line) {
  std::vector<std::string> names;
  if (line.empty()) return names;
  while (true) {
    const size_t end = line.find(' ');
    const std::string_view word = line.substr(0, end);
    if (!Unescape(word, names.emplace_back())) {
      return runtime::Fail(runtime::StatusCode::kCorrupt,
                           "the name of label %zu, '%.*s', holds a backslash "
                           "that begins no \\xHH",
                           names.size() - 1,
                           static_cast<int>(std::min<size_t>(word.size(), 80)),
                           word.data());
    }
    if (end == line.npos) return names;
    line.remove_prefix(end + 1);
  }
}

std::vector<std::string> LabelNamesOfLines(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    names.emplace_back(line);
  }
  return names;
}

}  // namespace mxc::data
