// SPDX-License-Identifier: Apache-2.0
#include "ir/program/program.h"

#include <algorithm>

#include "ir/support/check.h"

namespace mxc {

Contraction InParts(const Contraction& c, int64_t parts) {
  MXC_CHECK(c.groups == 1 && c.in % parts == 0, "{} of {}", parts, c.in);
  Contraction cut = c;
  cut.groups = parts;
  cut.in = c.in / parts;
  for (std::vector<Role>* axes :
       {&cut.data_axes, &cut.weight_axes, &cut.output_axes}) {
    for (Role& role : *axes) {
      role = role == Role::kIn           ? Role::kGroupIn
             : role == Role::kGroupBatch ? Role::kBatch
             : role == Role::kGroupOut   ? Role::kOut
                                         : role;
    }
  }
  cut.output_axes.insert(cut.output_axes.begin(), Role::kGroup);
  return cut;
}

std::vector<int> Step::operands() const {
  std::vector<int> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

Extents OutputDims(const Contraction& c) {
  Extents dims;
  for (const Role role : c.output_axes) {
    switch (role) {
      case Role::kBatch:
        dims.push_back(c.batch);
        break;
      case Role::kGroup:
        dims.push_back(c.groups);
        break;
      case Role::kOut:
        dims.push_back(c.out);
        break;
      case Role::kGroupOut:
        dims.push_back(c.groups * c.out);
        break;
      case Role::kGroupBatch:
        dims.push_back(c.groups * c.batch);
        break;
      case Role::kIn:
      case Role::kGroupIn:
        MXC_CHECK(false, "an output along what is summed");
      default:
        dims.push_back(c.output[static_cast<size_t>(role) -
                                static_cast<size_t>(Role::kSpatial0)]);
    }
  }
  return dims;
}

int Program::Root(int buffer) const {
  while (buffers[buffer].alias_of >= 0) buffer = buffers[buffer].alias_of;
  return buffer;
}

int64_t Program::BytesIntoRoot(int buffer) const {
  int64_t bytes = 0;
  for (; buffers[buffer].alias_of >= 0; buffer = buffers[buffer].alias_of) {
    bytes += buffers[buffer].alias_begin;
  }
  return bytes;
}

std::vector<int> Program::BuffersOf(BufferKind kind) const {
  std::vector<int> found;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind == kind) found.push_back(static_cast<int>(i));
  }
  return found;
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

std::vector<bool> ReadBuffers(const Program& program) {
  std::vector<bool> read(program.buffers.size(), false);
  for (const Step& step : program.steps) {
    for (const int b : step.inputs) read[b] = read[program.Root(b)] = true;
  }
  return read;
}

std::vector<LiveRange> LiveRanges(const Program& program) {
  std::vector<LiveRange> ranges(program.buffers.size());
  const auto touch = [&](int buffer, int step) {
    const int root = program.Root(buffer);
    if (program.buffers[root].kind != BufferKind::kInternal) return;
    LiveRange& range = ranges[root];
    if (range.first < 0) range.first = step;
    range.last = std::max(range.last, step);
  };
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) touch(b, static_cast<int>(s));
    for (const int b : program.steps[s].outputs) touch(b, static_cast<int>(s));
  }
  return ranges;
}

}  // namespace mxc
