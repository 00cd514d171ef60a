// SPDX-License-Identifier: Apache-2.0
// Where the buffers of an entry lie, and the operand pointers of its steps that
// follow from it. Windows move with the turns of their repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/artifact/tables.h"

namespace mxc::runtime {

// Where the pieces of memory begin that the tables place buffers in, on the
// device and on the host. Weights are only read: the check of the tables sees to
// it.
struct Regions {
  const std::byte* weights = nullptr;
  const std::byte* prepared = nullptr;
  std::byte* states = nullptr;
  std::byte* arena = nullptr;
  const std::byte* host_weights = nullptr;
  std::byte* host_arena = nullptr;
};

class Addresses {
 public:
  // The tables must outlive this. Inputs and outputs lie nowhere until Move.
  Addresses(const Tables& tables, const mxc_entry& entry,
            const Regions& regions);

  // Where the buffer lies now.
  std::byte* of(uint32_t buffer) const;
  // The operands of a step, by its row in the entry. The array stays where it
  // is; its pointers change with Move, Rewind and Advance.
  void* const* operands(size_t step) const {
    return operands_.data() + first_operands_[step];
  }

  // Where what Move moves lies now, in the order of the buffers.
  std::span<const std::byte* const> callers() const { return callers_; }

  // Returns whether operands of steps move from turn to turn.
  bool have_windows() const { return !windows_.empty(); }

  // An input or output lies at `memory` from now on.
  void Move(uint32_t buffer, std::byte* memory);
  // The same of a state, by its row in the tables.
  void MoveState(size_t row, std::byte* memory);

  // All windows show the first turn of their repeats.
  void Rewind();
  // Those of the repeat at step `loop` show this turn.
  void Rewind(uint32_t loop, int64_t turn);
  // They show the next turn; where `more` is false there is none, and only
  // windows with a period go on.
  void Advance(uint32_t loop, bool more);

 private:
  // An operand whose pointer follows buffer `root`.
  struct Slot {
    uint32_t root, operand;
    uint64_t offset;
  };
  struct Range {
    uint32_t first = 0, end = 0;
  };
  // A window, the slots that follow it, and which turn it shows.
  struct Window {
    const mxc_buffer* row;
    uint32_t buffer;
    Range slots;
    int64_t index;  // i of mxc_buffer
  };

  void PlaceRoots(const Tables& tables, const Regions& regions);
  void ListOperands(const Tables& tables, const mxc_entry& entry);
  void ListWindows(size_t steps);
  Range SlotsOf(uint32_t root) const;
  void SetSlots(Range slots, std::byte* memory);
  void Show(const Window& window);
  void Show(Window& window, int64_t turn);

  const std::span<const mxc_buffer> buffers_;
  std::vector<std::byte*> roots_;  // by buffer; null for aliases
  std::vector<const std::byte*> callers_;
  std::vector<uint32_t> caller_of_;     // by buffer: its row in callers_
  std::vector<uint32_t> states_;        // buffers
  std::vector<void*> operands_;         // of all steps
  std::vector<size_t> first_operands_;  // by step
  std::vector<Slot> slots_;             // by root
  std::vector<Window> windows_;         // by repeat
  std::vector<Range> windows_of_;       // by step
};

}  // namespace mxc::runtime
