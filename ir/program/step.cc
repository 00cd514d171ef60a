// SPDX-License-Identifier: Apache-2.0
#include "ir/program/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"

namespace mxc {

StepBody::StepBody() : StepBody(Map()) {}

int StepBody::InputsOf(const Step& step) {
  return static_cast<int>(step.inputs.size());
}

const Map* Step::map() const { return body.As<Map>(); }
Map* Step::map() { return body.As<Map>(); }
const ContractionStep* Step::contraction() const {
  return body.As<ContractionStep>();
}
ContractionStep* Step::contraction() { return body.As<ContractionStep>(); }
const TileLoop* Step::loop() const { return body.As<TileLoop>(); }

std::vector<int> Step::operands() const {
  std::vector<int> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

bool IsPure(const Program& program) {
  return std::ranges::all_of(program.steps,
                             [](const Step& s) { return s.body.pure(); });
}

bool MayFail(const Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const Step& s) { return s.body.may_fail(); });
}

Place PlaceOf(const Program& program, const Step& step) {
  return program.buffers[step.outputs[0]].place;
}

std::vector<std::vector<int>> SweepsOf(const Program& program,
                                       const Step& step) {
  // More streams at once than this do the processor no good.
  constexpr size_t kMostInSweep = 8;
  std::vector<std::vector<int>> sweeps;
  std::vector<size_t> open;  // of each layout and shape, the sweep with room
  const auto alike = [&](size_t sweep, int output) {
    const Buffer& first = program.buffers[step.outputs[sweeps[sweep][0]]];
    const Buffer& other = program.buffers[step.outputs[output]];
    return first.layout == other.layout && first.type.shape == other.type.shape;
  };
  for (int output = 0; output < static_cast<int>(step.outputs.size());
       ++output) {
    const auto found = std::ranges::find_if(
        open, [&](size_t sweep) { return alike(sweep, output); });
    if (found == open.end()) {
      open.push_back(sweeps.size());
      sweeps.push_back({output});
    } else if (sweeps[*found].size() == kMostInSweep) {
      *found = sweeps.size();
      sweeps.push_back({output});
    } else {
      sweeps[*found].push_back(output);
    }
  }
  return sweeps;
}

std::string KeyOf(const Program& program, const Step& step,
                  const ExprText& text) {
  const std::vector<int> operands = step.operands();
  std::string key =
      fmt::format("{}>{}", step.inputs.size(), step.outputs.size());
  std::unordered_map<int, size_t>
      first;  // operand with the same bytes, by root
  for (size_t i = 0; i < operands.size(); ++i) {
    const Buffer& buffer = program.buffers[operands[i]];
    const size_t same =
        first.try_emplace(program.Root(operands[i]), i).first->second;
    key += fmt::format("|{}:{}{}", same, ToString(buffer.type),
                       ToString(buffer.layout));
  }
  return key + step.body.Key(program, step, text);
}

}  // namespace mxc
