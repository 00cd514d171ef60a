// SPDX-License-Identifier: Apache-2.0
// Terms of a reduction that its reader needs again, element by element, as in
// softmax: they are stored in the output until it is computed.
//
//   out[i] = exp(x[i] - m) / sum{r}(exp(x[r] - m))
//     ⇒
//   s = sum{r}(out[r] = exp(x[r] - m));   out[i] = out[i] / s
#pragma once

#include <span>

#include "codegen/schedule/loop_nest.h"

namespace mxc {

// Finds them in a nest that is otherwise complete: adds to nest.kept, and has
// nest.values load what was kept. `free_outputs`: operands that share their
// bytes with no other.
void KeepTerms(LoopNest& nest, std::span<const NestOperand> operands,
               std::span<const int> free_outputs);

}  // namespace mxc
