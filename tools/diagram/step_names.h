// SPDX-License-Identifier: Apache-2.0
// What the box of a step is called, and which operators it says it computes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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
  // Steps of one name that compute values, gradients, or next states.
  struct Namesakes {
    int count = 0;
    const StepRow* largest = nullptr;  // of the most arithmetic
  };

  void NoteContraction(const StepRow& step);
  void NoteLoss(const StepRow& step);
  void NoteName(const StepRow& step);
  const BufferRow& RootOf(int buffer) const;
  Names ComputedElsewhere(const StepRow& step) const;
  bool ComputesLoss(const StepRow& step) const;
  std::string MovedBy(const StepRow& step) const;
  std::string WithoutStates(const std::string& name) const;
  std::pair<std::string, Phase> KeyOf(const StepRow& step) const;
  std::string OwnName(const StepRow& step) const;

  const Overview& overview_;
  const OperatorTexts& texts_;
  Names states_;
  // What each contraction computes, by the first of it.
  std::map<std::string_view, Names> contractions_;
  std::set<int> losses_;  // buffers
  std::map<std::pair<std::string, Phase>, Namesakes> namesakes_;
};

}  // namespace mxc
