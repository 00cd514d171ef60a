// SPDX-License-Identifier: Apache-2.0
// Names of classes, one a line: what `run --labels` reads.
#include <algorithm>

#include "runtime/data/label_names.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunSynset(Bytes input) {
  const std::string_view text = TextOf(input);
  const std::vector<std::string> names = data::LabelNamesOfLines(text);
  const auto ends = static_cast<size_t>(std::ranges::count(text, '\n'));
  const bool open = !text.empty() && text.back() != '\n';
  if (names.size() != ends + (open ? 1 : 0)) Wrong("a line is no class");
  const auto again = data::ParseLabelNames(data::LabelNamesText(names));
  if (!again.ok()) Wrong("names are not read back");
  // One empty name is written as none.
  if (*again != names && names != std::vector<std::string>{""}) {
    Wrong("names are read back otherwise");
  }
}

std::vector<std::string> SynsetSeeds() {
  return {"n01440764 tench, Tinca tinca\nn01443537 goldfish\n",
          "a\r\n\nb\r\n\r\nlast", "\n"};
}

}  // namespace

extern const Target synset;
const Target synset = {.run = RunSynset,
                       .seeds = SynsetSeeds,
                       .most_bytes = 64,
                       .words = {"\r\n", "\n\n", "\\x"}};

}  // namespace mxc::fuzz
