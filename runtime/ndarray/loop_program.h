// SPDX-License-Identifier: Apache-2.0
// A sequence of calls that is one program, and its runs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/ndarray/call_sequence.h"
#include "runtime/ndarray/compiled_call.h"

namespace mxc::runtime {

class LoopProgram {
 public:
  LoopProgram(CompiledOperator compiled, SharedTeam& team)
      : call_(std::move(compiled), {}, team) {}

  // One operation. Where a value that it needs has failed the calls run one by
  // one in it, so that what does not depend on that value is there.
  static void Push(Engine& engine, std::shared_ptr<LoopProgram> program,
                   std::vector<WaitingCall> calls, WiredSequence wired);

 private:
  Status Run(const WiredSequence& wired);

  CompiledCall call_;
};

}  // namespace mxc::runtime
