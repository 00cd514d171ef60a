// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/label_names.h"

#include <doctest/doctest.h>

namespace mxc::data {
namespace {

using Names = std::vector<std::string>;

std::string Refusal(std::string_view line) {
  return ParseLabelNames(line).status().message();
}

TEST_CASE("label names: one line holds any names") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const Names& names :
       {Names{}, Names{"cat", "dog"}, Names{"", "\n", " ", "\\", "é"},
        Names{"a\\x0ab", "", ""}, Names{bytes}}) {
    const std::string line = LabelNamesText(names);
    CAPTURE(line);
    CHECK(line.find('\n') == line.npos);
    CHECK(*ParseLabelNames(line) == names);
  }
  CHECK(LabelNamesText(Names{"", "\n", "a b"}) == " \\x0a a\\x20b");
}

TEST_CASE("label names: a damaged line is refused") {
  CHECK(Refusal("a b\\n") ==
        "the name of label 1, 'b\\n', holds a backslash that begins no \\xHH");
  for (const char* line : {"\\", "\\x", "\\x1", "\\xg0", "\\x+1", "\\x-1"}) {
    CAPTURE(line);
    CHECK_FALSE(ParseLabelNames(line).ok());
  }
}

}  // namespace
}  // namespace mxc::data
