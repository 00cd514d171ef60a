// SPDX-License-Identifier: Apache-2.0
// What a picture of a network shows, before anybody draws it: boxes in the
// order in which they run, arrows between them, and blocks that fold into one
// box. graphviz.h and diagram_json.h write it down.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "tools/overview.h"

namespace mxc {

// In the names of what gradient rules compute, behind whose gradient it is.
inline constexpr std::string_view kGradientRole = "/grad:";

// Of a training step; all of an inference is forward.
enum class Phase { kForward, kBackward, kUpdate };
const char* PhaseName(Phase phase);  // "forward"

struct DiagramBox {
  enum class Kind {
    kInput,
    kOutput,
    kContraction,  // a step with a generated kernel of contractions
    kLoops,        // any other step, or an operator
    kView,         // costs nothing
    kUnknown,      // an operator that cannot be compiled
    kBlock,        // a folded block
  };

  Kind kind = Kind::kLoops;
  // Names of the user's nodes, of a step joined by '+'.
  std::string name = {};
  // `name` without what the blocks around it say already.
  std::string short_name = {};
  std::string detail = {};  // "winograd4 8c", "gradient"
  // Its operators, each with what it is told: "Convolution conv1", "kernel
  // (3, 3), weight 64x64x3x3".
  std::vector<std::pair<std::string, std::string>> operators = {};
  std::string shape = {};  // of what it yields, empty: several
  Phase phase = Phase::kForward;
  bool only_updates = false;  // it yields next values of states, nothing else
  int step = -1;              // of the program; -1: no step
  int group = -1;             // the innermost block around it
};

struct DiagramArrow {
  int from = 0, to = 0;    // boxes
  std::string shape = {};  // empty: several values
  int buffer = -1;         // in Overview::buffers, where there is one
  bool gradient = false;   // or what only gradients read
  // A value of the forward phase that the backward phase computes again.
  bool again = false;
};

struct DiagramGroup {
  std::string title = {};  // "stage1"
  int parent = -1;         // a group before this one
  bool folded = false;
  bool is_phase = false;  // a part of a training step: never folded
};

struct Diagram {
  std::string name;   // "lenet"
  std::string facts;  // "7 steps in 166.1 KiB"
  bool trains = false;
  std::vector<DiagramBox> boxes;  // as they run; inputs first, outputs last
  std::vector<DiagramArrow> arrows;
  std::vector<DiagramGroup> groups;
};

// DiagramBox::operators by the node's name.
using OperatorTexts =
    std::map<std::string, std::pair<std::string, std::string>>;
OperatorTexts TextsOf(const Graph& graph);

// Steps as boxes. A single number that many steps read, such as the learning
// rate, is not drawn.
Diagram StepDiagram(const Overview& overview, const OperatorTexts& texts = {});
// What the steps are called in tables: as their boxes, and of which phase they
// are, "gradient of conv1", "next conv1_weight".
std::vector<std::string> StepTitles(const Overview& overview);
// Operators as boxes; weights are not drawn.
Diagram GraphDiagram(const Graph& graph);

// Tells forward, backward and update apart by what reads gradients.
void AssignPhases(Diagram& diagram);

// Finds the blocks by the names: words that neighbours share and nobody else
// has ("stage1_unit1_conv1": stage1, in it unit1). A long row of boxes that
// share no word becomes stretches ("12 to 23").
void AddBlocks(Diagram& diagram);

// Folds so many levels of blocks, the innermost first, that each phase fits on
// a screen.
void FoldToScreen(Diagram& diagram);
// Opens the blocks called so, all around them and all in them; "all" opens
// all. An error names the nearest block.
Status Unfold(const std::vector<std::string>& blocks, Diagram& diagram);

// The diagram with each folded block as one box, and arrows between the same
// boxes as one.
Diagram Folded(const Diagram& diagram);

// "a", "b" of "a+b": the user's nodes in the name of a step.
std::vector<std::string_view> PartsOf(std::string_view name);

// The name without what the compiler adds for a copy in another layout:
// "conv1" of "conv1/packed".
std::string_view UserNode(std::string_view part);

// "64x56x56"; "scalar" for rank 0.
std::string ShapeText(const Shape& shape);

}  // namespace mxc
