// SPDX-License-Identifier: Apache-2.0
// Walks the steps of an entry: kernels, calls, copies, repeats, branches.
// Everything that runs steps does it through a Sequencer.
//
// The walk has one position and belongs to one thread at a time. On the host it
// runs steps as it comes to them, what may run beside others, too; a step that
// is worth several threads is a phase: the walk stops in front of it, its chunks
// run on any threads at once (RunChunk), and one thread walks on (Finish).
// Nothing is allocated on the way. For a device it puts steps into a stream, all
// of them without a stop, and waits only where it has to read a value.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/artifact/tables.h"
#include "runtime/device/device.h"
#include "runtime/executor/addresses.h"
#include "runtime/executor/calls.h"
#include "runtime/executor/instructions.h"
#include "runtime/executor/model.h"
#include "runtime/executor/recordings.h"
#include "runtime/executor/schedule.h"
#include "runtime/executor/step_clock.h"

namespace mxc::runtime {

// What a device is asked to run by.
struct DeviceRun {
  const Device* device = nullptr;
  const DeviceModule* module = nullptr;
  Stream* stream = nullptr;
};

class Sequencer {
 public:
  // Scratch of thread t begins at memory + t * stride; each thread has the
  // entry's scratch_bytes, and at least MXC_SCRATCH_NOTE.
  struct Scratch {
    std::byte* memory = nullptr;
    uint64_t stride = 0;
  };

  // On the host. The model must outlive this.
  Sequencer(const Model& model, const mxc_entry& entry, const Regions& regions,
            Scratch scratch, int threads);
  // On a device. All must outlive this. Where each walk tells the stream the
  // same, it is recorded when inputs and outputs have lain there first.
  Sequencer(const Model& model, const mxc_entry& entry, const Regions& regions,
            const DeviceRun& run);

  Addresses& addresses() { return addresses_; }
  const Addresses& addresses() const { return addresses_; }
  std::span<const Phase> phases() const { return phases_; }

  // What collectives on the host are done with. Null: nobody.
  void Join(HostMember* member) { member_ = member; }

  // From the first step on, until the first phase; kNoPhase: the walk is over.
  uint32_t Begin(int thread);
  // One of the phase's chunks. `is_first`: the thread's first of this phase.
  void RunChunk(uint32_t phase, uint32_t chunk, int thread, bool is_first);
  // All chunks are done: what follows, until the next phase or the end.
  uint32_t Finish(uint32_t phase, int thread);

  // Waits for a device. False: what follows.
  bool Settle();
  // Returns whether a function that the last walk called has failed, or the
  // device; the host's walk ended there.
  bool HasFailed() const { return error_ != 0 || !failure_.ok(); }
  Status Outcome() const;

  // Steps [first, end), which begin and end outside of blocks, on the calling
  // thread alone. `after` hears of each kernel that ran, by its step's row, and
  // ends the walk with false; it may be empty.
  using Listener = std::function<bool(size_t step)>;
  void RunAlone(size_t first, size_t end, const Listener& after);
  // All steps on the calling thread, on the host; of those that are
  // MXC_KERNEL_EVEN the tasks that write `count` of `all` elements, from `first`
  // on, which are whole tasks'.
  void RunElements(uint64_t first, uint64_t count, uint64_t all);

  // On the host: hears of each step before it begins, by its row, on whatever
  // thread walks. It may wait; then the walk does.
  void Follow(std::function<void(size_t step)> before) {
    before_ = std::move(before);
  }

  // From the next walk on, the nanoseconds of each step, all turns together.
  void Profile() {
    clock_.emplace(steps_.size(), device_.stream);
    records_ = false;
  }
  // Empty without Profile.
  std::span<const int64_t> times() const {
    return clock_ ? clock_->times() : std::span<const int64_t>();
  }

 private:
  // A step, ready to be run.
  struct Launch {
    mxc_kernel kernel = nullptr;          // of the host
    const void* device_kernel = nullptr;  // of the module
    LibraryStep* library = nullptr;       // in its place
    CollectiveFunction collective = nullptr;
    bool one_way = false;  // of a collective
    std::span<void* const> operands;
    int64_t tasks = 0;
    uint32_t phase = kNoPhase;
    uint32_t beside = 0;  // number of a start, or of what a wait waits for
  };

  bool OnDevice() const { return device_.stream != nullptr; }
  void ListLaunches(const Model& model);
  LibraryStep* PlanLibrary(const mxc_step& step);
  uint32_t Walk(uint32_t position, uint32_t end, int thread,
                const Listener* alone);
  bool RunStep(uint32_t step, int thread);
  void RunKernel(uint32_t step, int thread);
  void RunCall(uint32_t step);
  void RunCollective(uint32_t step);
  // Of a collective, an input and what becomes of it.
  CollectiveTensor Shared(uint32_t step, uint32_t input) const;
  void RunCopy(uint32_t step);
  bool IsRecordable() const;
  void Replay();
  void ReadElement(void* value, const void* operand, uint64_t size);
  bool BeginRepeat(uint32_t step);
  bool BeginTurn(uint32_t step);
  int64_t CountOf(uint32_t repeat);
  bool GoesOn(uint32_t repeat);
  // Returns whether the element that operand `k` of a step holds is not 0.
  bool IsTrue(uint32_t step, size_t k);
  void Forget();
  void Took(uint32_t step);
  void* ScratchOf(int thread) const;
  void* ClearedScratch(int thread) const;  // as a kernel finds it first

  const Tables& tables_;
  const std::span<const mxc_buffer> buffers_;
  const std::span<const mxc_step> steps_;
  const DeviceRun device_;
  const Scratch scratch_;
  const InstructionList list_;
  std::vector<Launch> launches_;  // by step
  std::vector<Phase> phases_;

  // What walks write: apart from what the threads of a phase read, and only
  // where it changes, for a line that goes from core to core costs 0.1 us.
  alignas(128) Addresses addresses_;
  const Calls calls_;
  std::vector<int64_t> left_;   // turns of a repeat after this one, by step
  std::atomic<int> error_ = 0;  // of the function that step failed_ called
  uint32_t failed_ = 0;

  HostMember* member_ = nullptr;

  Status failure_;  // of a device, or of the member
  // Of a device.
  bool beside_ = false;  // whether this walk has things run beside others
  bool records_ = false;
  std::vector<std::unique_ptr<LibraryStep>> libraries_;  // launches point there
  Recordings recordings_;

  // Of RunElements.
  struct Share {
    uint64_t first = 0, count = 1, all = 1;
  } share_;

  std::function<void(size_t step)> before_;
  std::optional<StepClock> clock_;
};

}  // namespace mxc::runtime
