// SPDX-License-Identifier: Apache-2.0
// share-buffers: a view takes the bytes of what it views, and a step writes
// over an input that nothing needs afterwards.
//
//   y = reshape(x)              y aliases x, the step costs nothing
//   z = conv {acc + y[i]}       z aliases y where y dies here: element i is
//   read
//                               before element i is written, by the same task
//
// Only the caller's buffers and constants are never written over. Other inputs
// of the step may not share the bytes either, unless they too are read at the
// step's own index only.
#include <algorithm>
#include <set>

#include "passes/passes.h"
#include "passes/sharing.h"

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

// Whether the step reads the root of `pair.input` under no other name than
// those that may be overwritten.
bool EveryReadMayShare(const Program& program, const Step& step,
                       const std::vector<SharePair>& pairs, int root) {
  return std::ranges::all_of(step.inputs, [&](int input) {
    if (program.Root(input) != root) return true;
    return std::ranges::any_of(
        pairs, [&](const SharePair& pair) { return pair.input == input; });
  });
}

}  // namespace

Result<bool> ShareBuffers(Program& program, PassContext&) {
  bool changed = false;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const std::vector<SharePair> pairs = SharePairs(program, step);
    if (pairs.empty()) continue;
    const std::vector<int> last = LastUses(program);
    std::set<int> taken;  // roots
    for (const SharePair& pair : pairs) {
      const int root = program.Root(pair.input);
      if (program.buffers[pair.output].alias_of >= 0) continue;
      const bool dies = last[root] == static_cast<int>(s) &&
                        program.buffers[root].kind == BufferKind::kInternal &&
                        EveryReadMayShare(program, step, pairs, root);
      if (!pair.view && (!dies || !taken.insert(root).second)) continue;
      program.buffers[pair.output].alias_of = pair.input;
      changed = true;
    }
  }
  return changed;
}

}  // namespace mxc
