// SPDX-License-Identifier: Apache-2.0
// What the box of a step is called, and which operators it says it computes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tools/diagram/diagram.h"
#include "tools/overview.h"

namespace mxc {

DiagramBox::Kind KindOf(const StepRow& step);

// Both must outlive it.
class StepNames {
 public:
  StepNames(const Overview& overview, const OperatorTexts& texts);

  // Sets name and operators; `box.only_updates` is known.
  void Describe(const StepRow& step, DiagramBox& box) const;

 private:
  using Names = std::set<std::string_view>;

  void NoteContraction(const StepRow& step);
  void NoteLoss(const StepRow& step);
  const BufferRow& RootOf(int buffer) const;
  Names ComputedElsewhere(const StepRow& step) const;
  bool ComputesLoss(const StepRow& step) const;
  std::string MovedBy(const StepRow& step) const;
  std::string WithoutStates(const std::string& name) const;

  const Overview& overview_;
  const OperatorTexts& texts_;
  Names states_;
  // What each contraction computes, by the first of it.
  std::map<std::string_view, Names> contractions_;
  std::set<int> losses_;  // buffers
};

}  // namespace mxc
