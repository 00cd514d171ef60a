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
  return length > 0 ? fmt::format("{}:{}", word, length) : std::string(word);
}

ProgramEntry ProgramEntry::Named(std::string_view name) {
  const size_t colon = std::min(name.find(':'), name.size());
  const std::string_view rest = name.substr(std::min(colon + 1, name.size()));
  ProgramEntry entry{.purpose = PurposeNamed(name.substr(0, colon)), .of = {}};
  const bool whole = colon == name.size();
  if (entry.purpose == Purpose::kUpdate && !whole) {
    entry.of = rest;
    return entry;
  }
  if (!whole) {
    std::from_chars(rest.data(), rest.data() + rest.size(), entry.length);
  }
  if (entry.purpose == Purpose::kOther || entry.Name() != name) {
    return {.purpose = Purpose::kOther, .length = 0, .of = std::string(name)};
  }
  return entry;
}

}  // namespace mxc
