// SPDX-License-Identifier: Apache-2.0
#include "tools/diagram/step_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace mxc {
namespace {

using Kind = DiagramBox::Kind;

// Of a step; an artifact's may have any name.
constexpr size_t kMostOperatorsOfStep = 64;

// Into the order that a kernel reads: none of the operators it is named after
// is computed.
bool OnlyMoves(const StepRow& step) {
  return step.name.ends_with("/layout") && step.inputs.size() == 1;
}

// To where it stays, behind what reads it.
bool OnlyCopies(const StepRow& step) { return step.name.ends_with("/copy"); }

// The nodes in a step's name without those that the compiler made of them:
// "softmax" of "softmax+softmax/loss".
std::string OuterNodes(const std::string& name) {
  const std::vector<std::string_view> parts = PartsOf(name);
  const std::set<std::string_view> nodes(parts.begin(), parts.end());
  std::vector<std::string_view> outer;
  for (const std::string_view part : parts) {
    bool inner = false;
    for (size_t slash = part.find('/'); slash != part.npos && !inner;
         slash = part.find('/', slash + 1)) {
      inner = nodes.contains(part.substr(0, slash));
    }
    if (!inner) outer.push_back(part);
  }
  return fmt::format("{}", fmt::join(outer, "+"));
}

}  // namespace

Kind KindOf(const StepRow& step) {
  switch (step.kind) {
    case StepRow::Kind::kView:
      return Kind::kView;
    case StepRow::Kind::kContraction:
      return Kind::kContraction;
    default:
      return Kind::kLoops;
  }
}

StepNames::StepNames(const Overview& overview, const OperatorTexts& texts)
    : overview_(overview), texts_(texts) {
  for (const BufferRow& row : overview.buffers) {
    if (row.kind == "state") states_.insert(row.name);
  }
  for (const StepRow& step : overview.steps) {
    NoteContraction(step);
    NoteLoss(step);
    NoteName(step);
  }
}

std::pair<std::string, Phase> StepNames::KeyOf(const StepRow& step) const {
  Phase phase = Phase::kForward;
  if (!step.outputs.empty()) {
    const BufferRow& row = overview_.buffers[step.outputs[0]];
    const bool next =
        row.kind == "next state" ||
        (row.kind == "alias" && overview_.buffers[row.root].kind == "state");
    const bool gradient = row.name.find(kGradientRole) != std::string::npos;
    phase = next       ? Phase::kUpdate
            : gradient ? Phase::kBackward
                       : Phase::kForward;
  }
  return {WithoutStates(step.name), phase};
}

void StepNames::NoteName(const StepRow& step) {
  Namesakes& steps = namesakes_[KeyOf(step)];
  ++steps.count;
  if (steps.largest == nullptr || step.flops > steps.largest->flops) {
    steps.largest = &step;
  }
}

void StepNames::NoteContraction(const StepRow& step) {
  if (KindOf(step) != Kind::kContraction) return;
  const std::vector<std::string_view> parts = PartsOf(step.name);
  contractions_.try_emplace(parts[0], parts.begin(), parts.end());
}

// The loss, or what is copied there.
void StepNames::NoteLoss(const StepRow& step) {
  for (const int output : step.outputs) {
    const BufferRow& row = RootOf(output);
    if (!row.loss) continue;
    losses_.insert(OnlyCopies(step) ? step.inputs[0] : output);
  }
}

const BufferRow& StepNames::RootOf(int buffer) const {
  return overview_.buffers[overview_.buffers[buffer].root];
}

// Operators that the contraction computes for which the step only prepares
// data, although it is named after them, too.
StepNames::Names StepNames::ComputedElsewhere(const StepRow& step) const {
  if (KindOf(step) != Kind::kLoops) return {};
  for (const std::string_view part : PartsOf(step.name)) {
    const auto found = contractions_.find(part);
    if (found != contractions_.end()) return found->second;
  }
  return {};
}

// The loss alone; where updates read it, they have a number of their own.
bool StepNames::ComputesLoss(const StepRow& step) const {
  const auto is_number = [&](int b) {
    return overview_.buffers[b].bytes == sizeof(float);
  };
  const auto is_loss = [&](int b) { return losses_.contains(b); };
  return !OnlyCopies(step) && std::ranges::any_of(step.outputs, is_loss) &&
         std::ranges::all_of(step.outputs, is_number);
}

// "fc1_weight/layout" of a parameter; values have no names of their own.
std::string StepNames::MovedBy(const StepRow& step) const {
  const BufferRow& moved = RootOf(step.inputs[0]);
  return moved.kind == "state" ? moved.name + "/layout"
                               : WithoutStates(step.name);
}

// Steps are also named after the parameters whose updates they serve; their
// operators say enough. A suffix of the compiler stays.
std::string StepNames::WithoutStates(const std::string& name) const {
  const std::string_view last = PartsOf(name).back();
  const std::string suffix(last.substr(UserNode(last).size()));
  std::string kept;
  for (const std::string_view part : PartsOf(name)) {
    const std::string_view own = UserNode(part);
    if (states_.contains(own)) continue;
    kept += (kept.empty() ? "" : "+") + std::string(own);
  }
  return kept.empty() ? name : kept + suffix;
}

// Where several steps have the name, after what this one writes: "lstm/layer0".
std::string StepNames::OwnName(const StepRow& step) const {
  const auto key = KeyOf(step);
  const std::string& name = key.first;
  if (namesakes_.at(key).count < 2 || step.outputs.empty()) return name;
  std::string written = overview_.buffers[step.outputs[0]].name;
  if (!written.starts_with(name + "/")) return name;
  const size_t role = written.find(kGradientRole);
  if (role != written.npos) {
    written.erase(role + 1, kGradientRole.size() - 1);
  }
  // "steps_history0": the first of what a loop leaves.
  if (step.kind == StepRow::Kind::kRepeat) {
    written.erase(std::min(written.rfind('_'), written.size()));
  }
  return written;
}

void StepNames::Describe(const StepRow& step, DiagramBox& box) const {
  if (OnlyMoves(step)) {
    box.name = MovedBy(step);
    return;
  }
  if (ComputesLoss(step)) {
    const std::string heads = OuterNodes(step.name);
    box.name = heads + "/loss";
    box.operators = {{"loss of " + heads, ""}};
    return;
  }
  const Namesakes& namesakes = namesakes_.at(KeyOf(step));
  const auto elsewhere = ComputedElsewhere(step);
  for (const std::string_view part : PartsOf(step.name)) {
    if (box.operators.size() == kMostOperatorsOfStep) break;
    const auto text = texts_.find(std::string(part));
    const bool told_elsewhere = namesakes.count > 1 ? namesakes.largest != &step
                                                    : elsewhere.contains(part);
    if (text == texts_.end() || told_elsewhere) continue;
    box.operators.push_back(text->second);
  }
  box.name = box.only_updates ? RootOf(step.outputs[0]).name : OwnName(step);
}

}  // namespace mxc
