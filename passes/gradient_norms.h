// SPDX-License-Identifier: Apache-2.0
// Adds the norms of gradients to a training graph's outputs, which the trainer
// logs.
#pragma once

#include <span>

#include "ir/graph/graph.h"
#include "ir/optimizers/update_builder.h"

namespace mxc {

// Adds to the graph an output of role kNorm for each parameter, f32[1]: the root
// of the sum of the squares of its gradient's elements, which are first
// multiplied by `rescale`, not yet clipped and without decay.
void AddGradientNorms(Graph& graph, std::span<const Trained> parameters,
                      double rescale);

}  // namespace mxc
