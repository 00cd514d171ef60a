// SPDX-License-Identifier: Apache-2.0
#include "passes/sharing.h"

#include <algorithm>
#include <set>

#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

bool SameBytes(const Buffer& a, const Buffer& b) {
  return a.layout == b.layout && SizeOf(a.type.dtype) == SizeOf(b.type.dtype);
}

// The buffers that some Load does not read at the identity index, and a
// contraction's data and weight.
std::set<int> ReadElsewhere(const Step& step) {
  std::set<int> buffers(step.inputs.begin(),
                        step.inputs.begin() + FixedOperands(step));
  VisitExprs(step, [&](const Expr& e) {
    VisitLoads(e, [&](const ExprNode& load) {
      if (!IsIdentityIndex(load.args)) buffers.insert(step.inputs[load.index]);
    });
  });
  return buffers;
}

// Of several sweeps one could write what another has yet to read.
bool SweptAtOnce(const Program& program, const Step& step) {
  return step.outputs.size() == 1 || SweepsOf(program, step).size() == 1;
}

}  // namespace

bool MayWriteOver(const Program& program, const Step& step, int input) {
  if (std::ranges::count(step.inputs, input) == 0) return true;
  return SweptAtOnce(program, step) && !ReadElsewhere(step).contains(input);
}

std::vector<SharePair> SharePairs(const Program& program, const Step& step) {
  if (!SweptAtOnce(program, step)) return {};
  if (step.view) {
    const int output = step.outputs[0];
    const Buffer& in = program.buffers[step.inputs[0]];
    const Buffer& out = program.buffers[output];
    const bool dense = in.layout.row_major() && out.layout.row_major();
    if (out.kind != BufferKind::kInternal || !dense ||
        in.type.bytes() != out.type.bytes()) {
      return {};
    }
    return {{step.inputs[0], output, true}};
  }
  // Other kinds keep elements that they do not compute.
  if (step.map() == nullptr && step.contraction() == nullptr) return {};
  std::vector<SharePair> pairs;
  const std::set<int> elsewhere = ReadElsewhere(step);
  for (const int input : step.inputs) {
    const Buffer& in = program.buffers[input];
    if (in.kind != BufferKind::kInternal || elsewhere.contains(input)) continue;
    for (const int output : step.outputs) {
      const Buffer& out = program.buffers[output];
      if (out.kind != BufferKind::kInternal) continue;
      if (SameBytes(in, out)) pairs.push_back({input, output, false});
    }
  }
  return pairs;
}

}  // namespace mxc
