// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/rule_facts.h"

#include <algorithm>

#include "runtime/data/label_names.h"

namespace mxc::train {

std::string RuleFactsText(const RuleFacts& facts) {
  std::vector<std::string> words;
  for (const auto& [name, value] : facts) {
    if (!value.empty()) words.push_back(name + "=" + value);
  }
  return data::LabelNamesText(words);
}

std::string RuleFactOf(const std::string& saved, const std::string& name) {
  const auto words = data::ParseLabelNames(saved);
  if (saved.empty() || !words.ok()) return "";
  const std::string begin = name + "=";
  const auto word = std::ranges::find_if(
      *words, [&](const std::string& w) { return w.starts_with(begin); });
  return word == words->end() ? "" : word->substr(begin.size());
}

std::string OtherRules(const std::string& saved, const RuleFacts& now) {
  if (saved.empty() || !data::ParseLabelNames(saved).ok()) return "";
  std::string text;
  for (const auto& [name, is] : now) {
    const std::string was = RuleFactOf(saved, name);
    if (was == is) continue;
    const auto shown = [](const std::string& value) {
      return value.empty() ? "not said" : value;
    };
    text += (text.empty() ? "" : ", ") + name + " was " + shown(was) +
            " and is " + shown(is);
  }
  return text;
}

}  // namespace mxc::train
