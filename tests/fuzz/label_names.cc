// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/label_names.h"

#include "runtime/data/iterator.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunLabelNames(Bytes input) {
  const std::string_view text = TextOf(input);
  const auto names = data::ParseLabelNames(text);
  if (names.ok()) {
    const auto again = data::ParseLabelNames(data::LabelNamesText(*names));
    if (!again.ok() || *again != *names) Wrong("names are not read back");
  }
  const auto cursor = data::ParseCursor(text);
  if (!cursor.ok()) return;
  const auto again = data::ParseCursor(data::CursorText(*cursor));
  if (!again.ok() || *again != *cursor) Wrong("a cursor is not read back");
}

std::vector<std::string> LabelNamesSeeds() {
  const std::string names[] = {"cat", "a dog", "back\\slash", "", "\x7f\n"};
  return {data::LabelNamesText(names), data::CursorText({3, 12, 77}), ""};
}

}  // namespace

extern const Target label_names;
const Target label_names = {.run = RunLabelNames,
                            .seeds = LabelNamesSeeds,
                            .most_bytes = 96,
                            .words = {"\\x0a", "cursor ", " ", "\\x"}};

}  // namespace mxc::fuzz
