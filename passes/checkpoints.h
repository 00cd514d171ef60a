// SPDX-License-Identifier: Apache-2.0
// Values that a training step keeps from the forward part, from which the rest
// is computed again part by part (Chen et al., Training Deep Nets with Sublinear
// Memory Cost, 2016): those that are alive where few bytes are.
//
//   x = layer1(d)     many bytes
//   ─────────────     x alone: a boundary, x is kept
//   y = layer2(x)     many bytes
//   ─────────────     y alone
#pragma once

#include <vector>

#include "passes/forward_part.h"

namespace mxc {

struct EvictionCosts {
  const std::vector<double>& seconds;  // by step
  const std::vector<int>& root;        // by buffer: whose bytes it views
  const std::vector<bool>& evictable;  // by root
};

// The forward part falls into `parts` parts of about the same time, each boundary
// where the fewest bytes cross. By root: the last step that reads anything of a
// part that begins with the value, which is kept until then; -1 of others.
std::vector<int> Checkpoints(const Program& program, const ForwardPart& part,
                             const EvictionCosts& costs, int parts);

}  // namespace mxc
