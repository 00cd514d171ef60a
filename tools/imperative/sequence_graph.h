// SPDX-License-Identifier: Apache-2.0
// Calls one after the other as one graph, for loops that come again
// (runtime/ndarray/loops.h).
#pragma once

#include "runtime/ndarray/call_sequence.h"

namespace mxc {

// The functions of the calls in one graph, wired as the calls were. What is read
// and written is a state of it, so that the next value is written over the last
// one, as in a training step that is compiled whole.
class SequenceFunctions final : public runtime::SequenceCompiler {
 public:
  runtime::StatusOr<runtime::CompiledOperator> Compile(
      const runtime::CallSequence& sequence) const override;
};

}  // namespace mxc
