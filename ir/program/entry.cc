// SPDX-License-Identifier: Apache-2.0
#include "ir/program/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace mxc {
namespace {

// In the order of Purpose.
constexpr std::string_view kPurposeWords[] = {
    "", "infer", "train", "score", "grad", "update", "prepare"};

}  // namespace

Purpose PurposeNamed(std::string_view word) {
  const auto found = std::ranges::find(kPurposeWords, word);
  return found == std::end(kPurposeWords)
             ? Purpose::kOther
             : static_cast<Purpose>(found - std::begin(kPurposeWords));
}

std::string ProgramEntry::Name() const {
  const std::string_view word = kPurposeWords[static_cast<size_t>(purpose)];
  if (purpose == Purpose::kOther) return of;
  if (purpose == Purpose::kUpdate) return fmt::format("{}:{}", word, of);
  std::string text(word);
  for (const auto& [name, most] : lengths) {
    text += &most == &lengths.begin()->second ? ":" : ",";
    text +=
        name.empty() ? std::to_string(most) : fmt::format("{}={}", name, most);
  }
  return text;
}

ProgramEntry ProgramEntry::Named(std::string_view name) {
  const size_t colon = std::min(name.find(':'), name.size());
  std::string_view rest = name.substr(std::min(colon + 1, name.size()));
  ProgramEntry entry{.purpose = PurposeNamed(name.substr(0, colon)), .of = {}};
  if (entry.purpose == Purpose::kUpdate && colon < name.size()) {
    entry.of = rest;
    return entry;
  }
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const size_t equals = one.find('=');
    const size_t number = equals == one.npos ? 0 : equals + 1;
    int64_t most = 0;
    std::from_chars(one.data() + number, one.data() + one.size(), most);
    if (most < 1) break;
    entry.lengths.emplace(one.substr(0, number == 0 ? 0 : equals), most);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  if (entry.purpose == Purpose::kOther || entry.Name() != name) {
    return {.purpose = Purpose::kOther, .of = std::string(name)};
  }
  return entry;
}

}  // namespace mxc
