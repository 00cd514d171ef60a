// SPDX-License-Identifier: Apache-2.0
// A sequence of calls that is one program, and its runs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/ndarray/call_sequence.h"
#include "runtime/ndarray/compiled_call.h"

namespace mxc::runtime {

// Turns that were pushed and are not complete. Who calls faster than is computed
// waits here from time to time, for each turn has its batch in memory: the smaller
// they are, the more may be ahead, for to wake who waits takes as long as a small
// turn. Any thread.
class TurnsAhead {
 public:
  // One of them, until it ends or is gone.
  class Turn {
   public:
    // `bytes`: that it holds.
    Turn(std::shared_ptr<TurnsAhead> among, size_t bytes)
        : among_(std::move(among)), share_(ShareOf(bytes)) {
      among_->taken_ += share_;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { End(); }
    void End();

   private:
    std::shared_ptr<TurnsAhead> among_;  // null once it has ended
    const int share_;
  };

  // Until few are taken, where many are.
  void Wait() const;

 private:
  // Four turns or, of up to 256 KiB, sixteen.
  static constexpr int kMany = 16, kFew = 8;
  static int ShareOf(size_t bytes);

  std::atomic<int> taken_{0};  // shares
};

class LoopProgram {
 public:
  LoopProgram(CompiledOperator compiled, SharedTeam& team)
      : call_(std::move(compiled), {}, team) {}

  // A turn.
  struct Given {
    std::vector<WaitingCall> calls;
    WiredSequence wired;
    // Its calls are not expected to run by themselves soon: what they keep for
    // that is given back to the system when it has run.
    bool lets_calls_go = false;
  };
  // One operation. Where a value that it needs has failed the calls run one by
  // one in it, so that what does not depend on that value is there.
  static void Push(Engine& engine, std::shared_ptr<LoopProgram> program,
                   Given given, const std::shared_ptr<TurnsAhead>& ahead);

 private:
  Status Run(const WiredSequence& wired);

  CompiledCall call_;
};

}  // namespace mxc::runtime
