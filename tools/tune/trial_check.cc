// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/trial_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/train/training.h"

namespace mxc {
namespace {

using tune::Dimension;

std::vector<double> PositionsOf(const Dimension& dimension) {
  if (dimension.kind != Dimension::Kind::kChoice) {
    return {0.0, 0x1.fffffffffffffp-1};
  }
  std::vector<double> positions;
  const auto count = static_cast<double>(dimension.choices.size());
  for (size_t i = 0; i < dimension.choices.size(); ++i) {
    positions.push_back((static_cast<double>(i) + 0.5) / count);
  }
  return positions;
}

class TrialCheck {
 public:
  explicit TrialCheck(const TrialWords& words) : words_(words) {}

  // `plans`: whether that is to be looked at which only a plan can tell.
  void Check(const Dimension& dimension, const tune::Texts& trial, bool plans) {
    CLI::App app("", "tune");
    Training training(app);
    std::vector<std::string> words = words_.For(trial);
    std::ranges::reverse(words);
    app.parse(std::move(words));
    training.Settle();
    if (!plans || !planned_.insert(words_.For(trial)).second) return;
    const Status legal = training.RequirePlans();
    if (legal.ok()) return;
    for (const Diagnostic& error : legal.errors()) {
      if (!told_.insert(error.message).second) continue;
      errors_.push_back(UnplacedError(
          fmt::format("search '{}': a trial ({}): {}", dimension.ToString(),
                      TextOf(trial), error.message)));
    }
  }

  Status Result() const {
    if (!errors_.empty()) return errors_;
    return Done{};
  }

 private:
  const TrialWords& words_;
  std::set<std::vector<std::string>> planned_;
  std::set<std::string> told_;
  Diagnostics errors_;
};

}  // namespace

Status RequireLegalTrials(const tune::Space& space, const TrialWords& words) {
  tune::Texts first;
  for (const Dimension& dimension : space) {
    first.emplace_back(dimension.name, dimension.At(0));
  }
  TrialCheck check(words);
  for (size_t i = 0; i < space.size(); ++i) {
    // Numbers that no plan knows are what their option allows.
    const bool plans =
        space[i].kind == Dimension::Kind::kChoice || words.IsCompiled(i);
    for (const double position : PositionsOf(space[i])) {
      tune::Texts trial = first;
      trial[i].second = space[i].At(position);
      check.Check(space[i], trial, plans);
    }
  }
  return check.Result();
}

}  // namespace mxc
