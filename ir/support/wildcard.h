// SPDX-License-Identifier: Apache-2.0
// Names as a shell's patterns name them: "stage1_*", "conv?_weight".
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace mxc {

// Returns whether the pattern is the name or matches it.
bool MatchesWildcard(const std::string& pattern, const std::string& name);

// Returns whether one of them does.
template <class Patterns>
bool MatchesAny(const Patterns& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return MatchesWildcard(pattern, name);
  });
}

// The value for a name in a map by patterns: that of the name itself, else of
// the longest pattern that matches it; null: none does.
template <class Value>
const Value* FindByWildcard(const std::map<std::string, Value>& values,
                            const std::string& name) {
  const auto exact = values.find(name);
  if (exact != values.end()) return &exact->second;
  const std::pair<const std::string, Value>* found = nullptr;
  for (const auto& entry : values) {
    if (!MatchesWildcard(entry.first, name)) continue;
    if (!found || entry.first.size() > found->first.size()) found = &entry;
  }
  return found == nullptr ? nullptr : &found->second;
}

}  // namespace mxc
