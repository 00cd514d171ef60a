// SPDX-License-Identifier: Apache-2.0
// share-buffers: a view takes the bytes of what it views, and a step writes
// over an input that nothing needs afterwards.
//
//   y = reshape(x)              y aliases x, the step costs nothing
//   z = conv {acc + y[i]}       z aliases y where y dies here: element i is
//                               read before element i is written, by the same
//                               task
//
//   out = g                     g lies in out, the caller's, if its layout is
//                               row-major
//
// Only the caller's buffers and constants are never written over. Other inputs
// of the step may not share the bytes either, unless they too are read at the
// identity index only.
#include <algorithm>
#include <set>

#include "passes/passes.h"
#include "passes/sharing.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// The last step that reads or writes each root.
std::vector<int> LastUses(const Program& program) {
  std::vector<int> last(program.buffers.size(), -1);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) {
      last[program.Root(b)] = static_cast<int>(s);
    }
    for (const int b : program.steps[s].outputs) {
      last[program.Root(b)] = static_cast<int>(s);
    }
  }
  return last;
}

// Of buffers that lie in each other. A chain of thousands, as long as a network
// that works in place, would make every question for the root slow.
constexpr int kLongestChain = 256;

// What `buffer` lies in, or itself. The next value of a state stays, for what
// lies in it is not the old value.
int Outermost(const Program& program, int buffer) {
  const auto plain = [](const Buffer& b) {
    return b.kind == BufferKind::kInternal && b.alias_of >= 0 &&
           b.alias_begin == 0;
  };
  while (plain(program.buffers[buffer])) {
    buffer = program.buffers[buffer].alias_of;
  }
  return buffer;
}

// The roots that the step reads under another name than those that may be
// overwritten.
std::set<int> ReadOtherwise(const Program& program, const Step& step,
                            const std::vector<SharePair>& pairs) {
  std::set<int> may_share, roots;
  for (const SharePair& pair : pairs) may_share.insert(pair.input);
  for (const int input : step.inputs) {
    if (!may_share.contains(input)) roots.insert(program.Root(input));
  }
  return roots;
}

// Lets what the step copies to an output be written there: nobody writes over
// an output.
bool WriteToOutput(Program& program, const Step& step) {
  if (!CopiesToOutput(program, step)) return false;
  const int output = step.outputs[0], root = program.Root(step.inputs[0]);
  const Buffer& from = program.buffers[step.inputs[0]];
  const Buffer& to = program.buffers[output];
  Buffer& owner = program.buffers[root];
  if (owner.kind != BufferKind::kInternal || to.alias_of >= 0 ||
      from.layout != to.layout || owner.bytes() != to.bytes() ||
      program.BytesIntoRoot(step.inputs[0]) != 0) {
    return false;
  }
  owner.alias_of = output;
  return true;
}

}  // namespace

Result<bool> ShareBuffers(Program& program, PassContext&) {
  std::vector<int> last = LastUses(program);
  std::vector<int> depth(program.buffers.size(), 0);  // of aliases
  bool changed = false;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (WriteToOutput(program, step)) {
      changed = true;
      continue;
    }
    const std::vector<SharePair> pairs = SharePairs(program, step);
    if (pairs.empty()) continue;
    // Roots whose bytes no output of this step may take.
    std::set<int> taken = ReadOtherwise(program, step, pairs);
    for (const SharePair& pair : pairs) {
      const int root = program.Root(pair.input);
      if (program.buffers[pair.output].alias_of >= 0) continue;
      const bool dies = last[root] == static_cast<int>(s) &&
                        program.buffers[root].kind == BufferKind::kInternal;
      if (!pair.view && (!dies || !taken.insert(root).second)) continue;
      const int owner = depth[pair.input] < kLongestChain
                            ? pair.input
                            : Outermost(program, pair.input);
      program.buffers[pair.output].alias_of = owner;
      depth[pair.output] = depth[owner] + 1;
      last[root] = std::max(last[root], last[pair.output]);
      changed = true;
    }
  }
  return changed;
}

}  // namespace mxc
