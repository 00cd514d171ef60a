// SPDX-License-Identifier: Apache-2.0
// What decides how a step changes the parameters: training may go on otherwise
// than it began, but nobody should without knowing.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mxc::train {

// By the option that says each: ("--lr", "0.1"). An empty text: it is not said.
using RuleFacts = std::vector<std::pair<std::string, std::string>>;

// A line for a checkpoint's notes, and what differs from one that was saved:
// "--lr was 0.1 and is 0.01". Empty where nothing does, or nobody noted it.
std::string RuleFactsText(const RuleFacts& facts);
// What was saved of one; empty where it was not said.
std::string RuleFactOf(const std::string& saved, const std::string& name);
std::string OtherRules(const std::string& saved, const RuleFacts& now);

}  // namespace mxc::train
