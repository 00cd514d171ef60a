// SPDX-License-Identifier: Apache-2.0
#include "tools/usage/synonyms.h"

#include <algorithm>

namespace mxc {
namespace {

struct Synonym {
  std::string_view theirs, ours;
};

constexpr Synonym kSynonyms[] = {
#define MXC_SYNONYM(theirs, ours) {theirs, ours},
#include "tools/usage/synonyms.def"
#undef MXC_SYNONYM
};

bool Takes(const CLI::App& command, std::string_view ours) {
  const std::string option(ours.substr(0, ours.find_first_of(" ,")));
  return command.get_option_no_throw(option) != nullptr;
}

}  // namespace

std::string_view SynonymOf(const CLI::App& command, std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  for (const Synonym& row : kSynonyms) {
    if (row.theirs == name && Takes(command, row.ours)) return row.ours;
  }
  return "";
}

}  // namespace mxc
