// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/lines.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mxc::data {
namespace {

constexpr uint64_t kMostLineFileBytes = uint64_t{1} << 36;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of UTF-8

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

void SkipSpaces(std::string_view* text) {
  while (!text->empty() && IsSpace(text->front())) text->remove_prefix(1);
}

template <class T>
bool Take(std::string_view* text, T* value) {
  SkipSpaces(text);
  if (text->starts_with('+')) text->remove_prefix(1);
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, *value);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  SkipSpaces(text);
  return true;
}

}  // namespace

runtime::StatusOr<Lines> Lines::Read(const std::string& path, int64_t skip,
                                     char comment) {
  auto file = ReadFile(path, kMostLineFileBytes);
  if (!file.ok()) return file.status();
  Lines lines;
  lines.file_ = std::move(*file);
  const std::string_view text(
      reinterpret_cast<const char*>(lines.file_.bytes.data()),
      lines.file_.bytes.size());
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return runtime::Fail(runtime::StatusCode::kUnsupported,
                         "'%s' is UTF-16, expected UTF-8 or ASCII",
                         path.c_str());
  }
  int64_t number = 0;
  for (size_t begin = text.starts_with(kByteOrderMark) ? 3 : 0;
       begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    size_t stop = end;
    if (stop > begin && text[stop - 1] == '\r') --stop;
    std::string_view line = text.substr(begin, stop - begin);
    line = line.substr(0, line.find(comment));
    if (++number > skip && !std::all_of(line.begin(), line.end(), IsSpace)) {
      lines.lines_.push_back({begin, line.size(), number});
    }
    begin = end + 1;
  }
  return lines;
}

std::string_view Lines::line(int64_t i) const {
  const Line& line = lines_[static_cast<size_t>(i)];
  return {reinterpret_cast<const char*>(file_.bytes.data()) + line.begin,
          line.size};
}

bool TakeNumber(std::string_view* text, float* value) {
  return Take(text, value);
}

bool TakeIndex(std::string_view* text, int64_t* value) {
  return Take(text, value);
}

bool TakeCharacter(std::string_view* text, char c) {
  if (!text->starts_with(c)) return false;
  text->remove_prefix(1);
  return true;
}

}  // namespace mxc::data
