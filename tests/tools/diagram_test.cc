// SPDX-License-Identifier: Apache-2.0
#include "tools/diagram/diagram.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace mxc {
namespace {

// Steps one after another, each reading what the one before wrote.
Overview Chain(const std::vector<std::string>& names) {
  Overview overview;
  overview.network = "net";
  overview.entry = "infer";
  const auto add_buffer = [&](const std::string& name, const char* kind) {
    BufferRow row;
    row.name = name;
    row.type = "f32[1, 8]";
    row.kind = kind;
    row.root = static_cast<int>(overview.buffers.size());
    row.bytes = 32;
    row.read = true;
    overview.buffers.push_back(row);
    return row.root;
  };
  int last = add_buffer("data", "input");
  for (const std::string& name : names) {
    StepRow step;
    step.name = name;
    step.kernel = step.algorithm = "loops";
    step.inputs = {last};
    last = add_buffer(name, &name == &names.back() ? "output" : "internal");
    step.outputs = {last};
    overview.steps.push_back(step);
  }
  return overview;
}

std::vector<std::string> TitlesOf(const Diagram& diagram) {
  std::vector<std::string> titles;
  for (const DiagramGroup& group : diagram.groups) {
    titles.push_back(group.title);
  }
  std::ranges::sort(titles);
  return titles;
}

std::vector<std::string> ResidualNames(int stages, int units) {
  std::vector<std::string> names = {"conv0", "pool0"};
  for (int s = 1; s <= stages; ++s) {
    for (int u = 1; u <= units; ++u) {
      for (const char* layer : {"conv1+bn1", "conv2", "conv3"}) {
        names.push_back("stage" + std::to_string(s) + "_unit" +
                        std::to_string(u) + "_" + layer);
      }
    }
  }
  names.push_back("fc1");
  return names;
}

TEST_CASE("diagram: blocks are words that neighbours share, in each other") {
  const Diagram diagram = StepDiagram(Chain(ResidualNames(2, 2)));
  CHECK(TitlesOf(diagram) == std::vector<std::string>{"stage1", "stage2",
                                                      "unit1", "unit1", "unit2",
                                                      "unit2"});
  const DiagramBox& conv2 = diagram.boxes[4];
  CHECK(conv2.name == "stage1_unit1_conv2");
  CHECK(conv2.short_name == "conv2");
  CHECK(diagram.groups[conv2.group].title == "unit1");
  CHECK(diagram.groups[diagram.groups[conv2.group].parent].title == "stage1");
}

TEST_CASE("diagram: what comes from before a loop enters by its box") {
  Overview overview = Chain({"embed", "loop", "gates", "cell", "fc"});
  const int embedded = overview.steps[0].outputs[0];
  overview.steps[1].inputs = overview.steps[1].outputs = {};
  overview.steps[1].body = 2;
  overview.steps[2].inputs = {embedded};
  overview.steps[3].inputs.push_back(embedded);
  const Diagram diagram = StepDiagram(overview);
  std::vector<std::string> arrows;
  for (const DiagramArrow& arrow : diagram.arrows) {
    arrows.push_back(diagram.boxes[arrow.from].name + " " +
                     diagram.boxes[arrow.to].name);
  }
  std::ranges::sort(arrows);
  CHECK(arrows == std::vector<std::string>{"cell fc", "data embed",
                                           "embed loop", "fc fc", "gates cell",
                                           "loop cell", "loop gates"});
}

TEST_CASE("diagram: steps of one operator are named by what they write") {
  Overview overview = Chain({"embed", "lstm", "lstm", "fc"});
  overview.buffers[2].name = "lstm/layer0/FullyConnected";
  overview.buffers[3].name = "lstm/layer0/steps_history0";
  overview.steps[2].kind = StepRow::Kind::kRepeat;
  overview.steps[2].flops = 7;
  const OperatorTexts texts = {{"lstm", {"RNN lstm", "mode lstm"}},
                               {"fc", {"FullyConnected fc", ""}}};
  const Diagram diagram = StepDiagram(overview, texts);
  std::vector<std::string> names;
  for (const DiagramBox& box : diagram.boxes) names.push_back(box.name);
  CHECK(names == std::vector<std::string>{"data", "embed",
                                          "lstm/layer0/FullyConnected",
                                          "lstm/layer0/steps", "fc", "fc"});
  // What the operator is told stands where most is computed.
  CHECK(diagram.boxes[2].operators.empty());
  CHECK(diagram.boxes[3].operators.size() == 1);
  CHECK(diagram.boxes[4].operators.size() == 1);
}

TEST_CASE("diagram: kinds of steps are drawn, whatever their names say") {
  Overview overview = Chain({"a", "b", "c", "d", "e"});
  using Kind = StepRow::Kind;
  constexpr std::pair<Kind, const char*> kSteps[] = {
      {Kind::kContraction, "a kernel of loops, in turns"},
      {Kind::kLoops, "3 steps at once"},
      {Kind::kView, "view"},
      {Kind::kCall, "all_reduce"},
      {Kind::kWait, "wait"}};
  for (size_t s = 0; s < std::size(kSteps); ++s) {
    overview.steps[s].kind = kSteps[s].first;
    overview.steps[s].algorithm = kSteps[s].second;
  }
  std::vector<DiagramBox::Kind> drawn;
  for (const DiagramBox& box : StepDiagram(overview).boxes) {
    if (box.step >= 0) drawn.push_back(box.kind);
  }
  using Drawn = DiagramBox::Kind;
  CHECK(drawn == std::vector<Drawn>{Drawn::kContraction, Drawn::kLoops,
                                    Drawn::kView, Drawn::kLoops,
                                    Drawn::kLoops});
}

TEST_CASE("diagram: a number belongs to the word before it") {
  std::vector<std::string> names;
  for (const char* block : {"mixed", "mixed_1", "mixed_2"}) {
    for (const char* part : {"conv_conv2d", "tower_conv_conv2d", "pool_pool"}) {
      names.push_back(std::string(block) + "_" + part);
    }
  }
  const Diagram diagram = StepDiagram(Chain(names));
  CHECK(TitlesOf(diagram) ==
        std::vector<std::string>{"mixed", "mixed_1", "mixed_2"});
}

TEST_CASE("diagram: a network that fits on a screen is open, others fold") {
  const Diagram small = StepDiagram(Chain(ResidualNames(2, 2)));
  CHECK(Folded(small).boxes.size() == small.boxes.size());
  Diagram large = StepDiagram(Chain(ResidualNames(4, 5)));
  // Units are folded, stages are open: 3 layers, 20 units, input and output.
  CHECK(Folded(large).boxes.size() == 25);
  REQUIRE(Unfold({"stage2"}, large).ok());
  CHECK(Folded(large).boxes.size() == 25 - 5 + 15);
  REQUIRE(Unfold({"all"}, large).ok());
  CHECK(Folded(large).boxes.size() == large.boxes.size());
  const Status unknown = Unfold({"stage9"}, large);
  REQUIRE(!unknown.ok());
  CHECK(unknown.errors()[0].message.find("no block is called 'stage9'") !=
        std::string::npos);
}

TEST_CASE("diagram: a long row of names that share nothing is stretches") {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("layer" + std::to_string(i));
  const Diagram diagram = StepDiagram(Chain(names));
  CHECK(Folded(diagram).boxes.size() <= 42);
  for (const DiagramArrow& arrow : Folded(diagram).arrows) {
    CHECK(arrow.from != arrow.to);
  }
}

TEST_CASE(
    "diagram: what gradients reach is backward, what states get, update") {
  Overview overview = Chain({"fc1", "softmax", "fc1", "fc1_weight+fc1"});
  const auto kind = [&](int buffer, const char* what) {
    overview.buffers[buffer].kind = what;
  };
  // data, fc1, softmax's gradient, that of fc1, the next weight.
  overview.buffers[2].name = "softmax/grad:data";
  kind(4, "next state");
  BufferRow weight;
  weight.name = "fc1_weight";
  weight.kind = "state";
  weight.root = static_cast<int>(overview.buffers.size());
  overview.buffers.push_back(weight);
  overview.buffers[4].name = "fc1_weight/next";
  BufferRow output = overview.buffers[1];
  output.name = "softmax_output";
  output.kind = "output";
  output.root = static_cast<int>(overview.buffers.size());
  overview.buffers.push_back(output);
  overview.steps[1].outputs.push_back(output.root);
  const Diagram diagram = StepDiagram(overview);
  CHECK(diagram.trains);
  std::vector<std::string> phases;
  for (const DiagramBox& box : diagram.boxes) {
    if (box.step >= 0) phases.push_back(PhaseName(box.phase));
  }
  CHECK(phases ==
        std::vector<std::string>{"forward", "forward", "backward", "update"});
}

TEST_CASE("diagram: all parts of what is concatenated lead to its reader") {
  Overview overview = Chain({"a", "b", "concat", "fc"});
  // a and b write halves of concat's buffer; fc reads the whole.
  BufferRow whole = overview.buffers[3];
  whole.bytes = 64;
  overview.buffers[3] = whole;
  overview.buffers[1].root = overview.buffers[2].root = 3;
  overview.steps[1].inputs = {0};
  overview.steps.erase(overview.steps.begin() + 2);
  const Diagram diagram = StepDiagram(overview);
  std::vector<std::string> into;
  for (const DiagramArrow& arrow : diagram.arrows) {
    if (diagram.boxes[arrow.to].step == 2) {
      into.push_back(diagram.boxes[arrow.from].name);
    }
  }
  CHECK(into == std::vector<std::string>{"a", "b"});
}

}  // namespace
}  // namespace mxc
