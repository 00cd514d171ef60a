// SPDX-License-Identifier: Apache-2.0
#include "tools/diagram/diagram_json.h"

#include <string>
#include <vector>

#include "runtime/base/visible.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

using runtime::Visible;

const char* KindName(DiagramBox::Kind kind) {
  constexpr const char* kNames[] = {"input", "output",  "contraction", "loops",
                                    "view",  "unknown", "block"};
  return kNames[static_cast<int>(kind)];
}

Json BoxesOf(const Diagram& diagram) {
  Json boxes = Json::array();
  for (const DiagramBox& box : diagram.boxes) {
    Json operators = Json::array();
    for (const auto& [name, told] : box.operators) {
      operators.push_back(Visible(told.empty() ? name : name + ": " + told));
    }
    boxes.push_back({{"name", Visible(box.name)},
                     {"short_name", Visible(box.short_name)},
                     {"kind", KindName(box.kind)},
                     {"phase", PhaseName(box.phase)},
                     {"step", box.step},
                     {"group", box.group},
                     {"detail", Visible(box.detail)},
                     {"operators", std::move(operators)},
                     {"shape", box.shape}});
  }
  return boxes;
}

Json ArrowsOf(const Diagram& diagram) {
  Json arrows = Json::array();
  for (const DiagramArrow& arrow : diagram.arrows) {
    arrows.push_back({{"from", arrow.from},
                      {"to", arrow.to},
                      {"buffer", arrow.buffer},
                      {"again", arrow.again}});
  }
  return arrows;
}

Json GroupsOf(const Diagram& diagram) {
  Json groups = Json::array();
  for (const DiagramGroup& group : diagram.groups) {
    groups.push_back({{"title", Visible(group.title)},
                      {"parent", group.parent},
                      {"folded", group.folded},
                      {"is_phase", group.is_phase}});
  }
  return groups;
}

Json StepsOf(const Overview& overview) {
  Json steps = Json::array();
  const std::vector<std::string> titles = StepTitles(overview);
  for (size_t i = 0; i < overview.steps.size(); ++i) {
    const StepRow& step = overview.steps[i];
    steps.push_back({{"name", Visible(titles[i])},
                     {"kernel", Visible(step.algorithm)},
                     {"inputs", step.inputs},
                     {"outputs", step.outputs},
                     {"tasks", step.tasks},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"scratch", step.scratch}});
  }
  return steps;
}

Json BuffersOf(const Overview& overview) {
  Json buffers = Json::array();
  for (const BufferRow& buffer : overview.buffers) {
    buffers.push_back({{"name", Visible(buffer.name)},
                       {"type", buffer.type},
                       {"layout", buffer.layout},
                       {"kind", buffer.kind},
                       {"host", buffer.on_host},
                       {"root", buffer.root},
                       {"offset", buffer.offset},
                       {"bytes", buffer.bytes},
                       {"first", buffer.first},
                       {"last", buffer.last}});
  }
  return buffers;
}

}  // namespace

std::string DiagramJson(const Diagram& diagram, const Overview& overview) {
  const Json json = {
      {"trains", diagram.trains},    {"boxes", BoxesOf(diagram)},
      {"arrows", ArrowsOf(diagram)}, {"groups", GroupsOf(diagram)},
      {"steps", StepsOf(overview)},  {"buffers", BuffersOf(overview)}};
  std::string text;
  for (const char c : json.dump()) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace mxc
