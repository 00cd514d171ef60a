// SPDX-License-Identifier: Apache-2.0
// The gradients of parts of a tape.
#pragma once

#include "runtime/autograd/autograd.h"
#include "runtime/autograd/tape_part.h"

namespace mxc {

// The gradient of a part as one graph: those of its calls, which read what was
// recorded, wired as the calls were, backwards.
class TapeCompiler final : public runtime::GradientCompiler {
 public:
  runtime::StatusOr<runtime::PartGradient> Compile(
      const runtime::TapePart& part) const override;
};

// The process' own.
runtime::Autograd& TheAutograd();

}  // namespace mxc
