// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tools/diagram/diagram.h"
#include "tools/diagram/step_names.h"

namespace mxc {
namespace {

using Kind = DiagramBox::Kind;

constexpr size_t kMostReadersOfNumber = 3;
// A buffer of many parts that is read often, or read within many loops, has an
// arrow for each; beyond so many for each operand the rest are not drawn.
constexpr size_t kMostArrowsOfOperand = 8, kFewestArrows = 4096;

// "1x64x56x56" of "f32[1, 64, 56, 56]".
std::string ShapeOf(const std::string& type) {
  const size_t open = type.find('[');
  std::string shape;
  for (size_t i = open + 1; open != std::string::npos && i < type.size(); ++i) {
    if (type[i] == ',') shape += "x";
    if (type[i] >= '0' && type[i] <= '9') shape += type[i];
  }
  return shape.empty() ? "scalar" : shape;
}

class StepDiagrammer {
 public:
  StepDiagrammer(const Overview& overview, const OperatorTexts& texts)
      : overview_(overview), names_(overview, texts) {
    size_t operands = 0;
    for (const StepRow& step : overview.steps) {
      operands += step.inputs.size() + step.outputs.size();
    }
    most_arrows_ = std::max(kFewestArrows, kMostArrowsOfOperand * operands);
  }

  Diagram Make() {
    diagram_.name = overview_.Title();
    diagram_.facts =
        fmt::format("{} in {}", Count(std::ssize(overview_.steps), "step"),
                    FormatBytes(overview_.memory.peak()));
    AddInputs();
    for (size_t s = 0; s < overview_.steps.size(); ++s) AddStep(s);
    around_.clear();
    AddOutputs();
    DropCommonNumbers();
    AssignPhases(diagram_);
    if (diagram_.trains) NamePhases();
    DropCommonInputs();
    AddBlocks(diagram_);
    FoldToScreen(diagram_);
    return std::move(diagram_);
  }

 private:
  const BufferRow& RootOf(int buffer) const {
    return overview_.buffers[overview_.buffers[buffer].root];
  }

  bool IsNextState(int buffer) const {
    const BufferRow& row = overview_.buffers[buffer];
    return row.kind == "next state" ||
           (row.kind == "alias" && RootOf(buffer).kind == "state");
  }

  int AddBox(Kind kind, const std::string& name) {
    diagram_.boxes.push_back({.kind = kind, .name = name});
    return static_cast<int>(diagram_.boxes.size()) - 1;
  }

  void AddInputs() {
    for (size_t b = 0; b < overview_.buffers.size(); ++b) {
      const BufferRow& row = overview_.buffers[b];
      // A label that inference has no use for.
      if (row.kind != "input" || !row.read) continue;
      const int box = AddBox(Kind::kInput, row.name);
      diagram_.boxes[box].shape = ShapeOf(row.type);
      writers_[static_cast<int>(b)] = {{static_cast<int>(b), box}};
    }
  }

  void AddStep(size_t number) {
    const StepRow& step = overview_.steps[number];
    const int box = AddBox(KindOf(step), step.name);
    diagram_.boxes[box].step = static_cast<int>(number);
    std::erase_if(around_, [&](const auto& it) { return it.end <= number; });
    for (const int input : step.inputs) {
      // A view of a state is no value of this run.
      if (RootOf(input).kind == "state") continue;
      AddArrow(input, box);
    }
    Describe(step, diagram_.boxes[box]);
    for (const int output : step.outputs) NoteWriter(output, box);
    if (step.body == 0) return;
    around_.push_back({box, number + 1 + static_cast<size_t>(step.body)});
  }

  // A concatenation is written part by part.
  void NoteWriter(int buffer, int box) {
    auto& writers = writers_[overview_.buffers[buffer].root];
    if (overview_.buffers[buffer].bytes >= RootOf(buffer).bytes) {
      writers.clear();
    }
    writers[buffer] = box;
  }

  void AddArrow(int buffer, int to) {
    const auto writers = writers_.find(overview_.buffers[buffer].root);
    if (writers == writers_.end()) return;
    const auto same = writers->second.find(buffer);
    if (same != writers->second.end()) {
      AddArrow(same->second, to, buffer);
      return;
    }
    for (const auto& [part, from] : writers->second) {
      if (diagram_.arrows.size() >= most_arrows_) return;
      AddArrow(from, to, part);
    }
  }

  // What comes from before a loop or a branch enters by its box.
  void AddArrow(int from, int to, int buffer) {
    for (const auto& [box, end] : around_) {
      if (from >= box) continue;
      if (entered_.emplace(buffer, box).second) Draw(from, box, buffer);
      from = box;
    }
    if (from != to) Draw(from, to, buffer);
  }

  void Draw(int from, int to, int buffer) {
    if (diagram_.arrows.size() >= most_arrows_) return;
    const BufferRow& row = overview_.buffers[buffer];
    const auto has = [&](std::string_view word) {
      return row.name.find(word) != std::string::npos;
    };
    diagram_.arrows.push_back({.from = from,
                               .to = to,
                               .shape = ShapeOf(row.type),
                               .buffer = buffer,
                               .gradient = has(kGradientRole),
                               .again = has("/again") && !has(kGradientRole)});
  }

  void Describe(const StepRow& step, DiagramBox& box) const {
    box.only_updates = !step.outputs.empty() &&
                       std::ranges::all_of(
                           step.outputs, [&](int b) { return IsNextState(b); });
    if (!step.outputs.empty()) {
      box.shape = ShapeOf(overview_.buffers[step.outputs[0]].type);
    }
    box.detail = step.algorithm;
    names_.Describe(step, box);
  }

  void AddOutputs() {
    for (size_t b = 0; b < overview_.buffers.size(); ++b) {
      const BufferRow& row = overview_.buffers[b];
      if (row.kind != "output") continue;
      const int box = AddBox(Kind::kOutput, row.name);
      diagram_.boxes[box].shape = ShapeOf(row.type);
      AddArrow(static_cast<int>(b), box);
    }
  }

  // An output, or what is copied there.
  bool IsResult(int box) const {
    const DiagramBox& it = diagram_.boxes[box];
    return it.kind == Kind::kOutput || it.name.ends_with("/copy");
  }

  // The learning rate, a loss that guards every update.
  void DropCommonNumbers() {
    std::map<int, std::set<int>> readers;  // by root buffer
    for (const DiagramArrow& arrow : diagram_.arrows) {
      readers[overview_.buffers[arrow.buffer].root].insert(arrow.to);
    }
    std::set<int> used;
    std::erase_if(diagram_.arrows, [&](const DiagramArrow& arrow) {
      const int root = overview_.buffers[arrow.buffer].root;
      const bool common = (arrow.shape == "1" || arrow.shape == "scalar") &&
                          readers.at(root).size() > kMostReadersOfNumber &&
                          !IsResult(arrow.to);
      if (common) common_.insert(arrow.from);
      if (!common) used.insert(arrow.from);
      return common;
    });
    for (const int box : used) common_.erase(box);
  }

  // Inputs of which no arrow is left.
  void DropCommonInputs() {
    std::vector<int> place(diagram_.boxes.size());
    std::vector<DiagramBox> kept;
    for (size_t b = 0; b < diagram_.boxes.size(); ++b) {
      place[b] = static_cast<int>(kept.size());
      const bool is_input = diagram_.boxes[b].kind == Kind::kInput;
      if (is_input && common_.contains(static_cast<int>(b))) continue;
      kept.push_back(std::move(diagram_.boxes[b]));
    }
    diagram_.boxes = std::move(kept);
    for (DiagramArrow& arrow : diagram_.arrows) {
      arrow.from = place[arrow.from];
      arrow.to = place[arrow.to];
    }
  }

  void NamePhases() {
    for (DiagramBox& box : diagram_.boxes) {
      if (box.step < 0 || box.phase == Phase::kForward) continue;
      const char* what = box.phase == Phase::kUpdate    ? "next value"
                         : box.name.ends_with("/again") ? "computed again"
                                                        : "gradient";
      box.detail = fmt::format("{}, {}", what, box.detail);
      box.operators.clear();
    }
    NameUpdates();
  }

  // Arrows to updates are not drawn: a box that has no others says where its
  // value goes.
  void NameUpdates() {
    std::map<int, std::set<int>> updates;  // their steps, by what they read
    std::set<int> read;                    // by anything else
    for (const DiagramArrow& arrow : diagram_.arrows) {
      const DiagramBox& to = diagram_.boxes[arrow.to];
      if (to.phase == Phase::kUpdate) {
        updates[arrow.from].insert(to.step);
      } else {
        read.insert(arrow.from);
      }
    }
    for (const auto& [from, steps] : updates) {
      DiagramBox& box = diagram_.boxes[from];
      if (box.phase != Phase::kBackward || read.contains(from)) continue;
      box.detail += fmt::format(" → step {}", fmt::join(steps, ", "));
    }
  }

  const Overview& overview_;
  const StepNames names_;
  size_t most_arrows_ = 0;
  Diagram diagram_;
  // By root buffer, for each buffer there: the box that wrote it last.
  std::map<int, std::map<int, int>> writers_;
  std::set<int> common_;  // boxes of numbers that are not drawn
  // The repeats and branches around the step that is being added, the outermost
  // first: their boxes, and the steps behind the last that each runs.
  struct Around {
    int box;
    size_t end;
  };
  std::vector<Around> around_;
  std::set<std::pair<int, int>> entered_;  // a buffer, one of their boxes
};

}  // namespace

Diagram StepDiagram(const Overview& overview, const OperatorTexts& texts) {
  return StepDiagrammer(overview, texts).Make();
}

std::vector<std::string> StepTitles(const Overview& overview) {
  std::vector<std::string> titles(overview.steps.size());
  for (const DiagramBox& box : StepDiagram(overview).boxes) {
    if (box.step < 0) continue;
    const char* phase = box.phase == Phase::kBackward ? "gradient of "
                        : box.phase == Phase::kUpdate ? "next "
                                                      : "";
    titles[box.step] = phase + box.name;
  }
  return titles;
}

}  // namespace mxc
