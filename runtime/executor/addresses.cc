// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/addresses.h"

#include <algorithm>

namespace mxc::runtime {

Addresses::Addresses(const Tables& tables, const mxc_entry& entry,
                     const Regions& regions)
    : buffers_(tables.Buffers(entry)), roots_(buffers_.size()) {
  PlaceRoots(tables, regions);
  ListOperands(tables, entry);
  ListWindows(entry.steps.count);
}

void Addresses::PlaceRoots(const Tables& tables, const Regions& regions) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const mxc_buffer& buffer = buffers_[i];
    caller_of_.push_back(static_cast<uint32_t>(callers_.size()));
    if (buffer.kind <= MXC_BUFFER_OUTPUT) callers_.push_back(nullptr);
    const bool host = buffer.place == MXC_PLACE_HOST;
    if (buffer.kind == MXC_BUFFER_WEIGHT) {
      roots_[i] = const_cast<std::byte*>(host ? regions.host_weights
                                              : regions.weights) +
                  buffer.offset;
    } else if (buffer.kind == MXC_BUFFER_PREPARED) {
      roots_[i] = const_cast<std::byte*>(regions.prepared) + buffer.offset;
    } else if (buffer.kind == MXC_BUFFER_INTERNAL) {
      roots_[i] = (host ? regions.host_arena : regions.arena) + buffer.offset;
    } else if (buffer.kind == MXC_BUFFER_STATE) {
      roots_[i] = regions.states + tables.states()[buffer.offset].offset;
      states_.push_back(static_cast<uint32_t>(i));
    }
  }
}

void Addresses::ListOperands(const Tables& tables, const mxc_entry& entry) {
  for (const mxc_step& step : tables.Steps(entry)) {
    first_operands_.push_back(operands_.size());
    for (const uint32_t index : tables.Operands(step)) {
      const mxc_buffer& buffer = buffers_[index];
      const bool alias = buffer.kind == MXC_BUFFER_ALIAS;
      const uint32_t root = alias ? buffer.root : index;
      slots_.push_back({root, static_cast<uint32_t>(operands_.size()),
                        alias ? buffer.offset : 0});
      operands_.push_back(of(index));
    }
  }
  // What never moves has no slots.
  std::erase_if(slots_, [&](const Slot& slot) {
    const uint8_t kind = buffers_[slot.root].kind;
    return kind != MXC_BUFFER_INPUT && kind != MXC_BUFFER_OUTPUT &&
           kind != MXC_BUFFER_STATE && kind != MXC_BUFFER_WINDOW;
  });
  std::stable_sort(
      slots_.begin(), slots_.end(),
      [](const Slot& a, const Slot& b) { return a.root < b.root; });
}

void Addresses::ListWindows(size_t steps) {
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].kind != MXC_BUFFER_WINDOW) continue;
    windows_.push_back({&buffers_[i], i, SlotsOf(i), 0});
  }
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const Window& a, const Window& b) {
                     return a.row->loop < b.row->loop;
                   });
  windows_of_.resize(windows_.empty() ? 0 : steps);
  for (uint32_t w = 0; w < windows_.size(); ++w) {
    Range& range = windows_of_[windows_[w].row->loop];
    if (range.end == 0) range.first = w;
    range.end = w + 1;
  }
}

std::byte* Addresses::of(uint32_t buffer) const {
  const mxc_buffer& row = buffers_[buffer];
  if (row.kind != MXC_BUFFER_ALIAS) return roots_[buffer];
  std::byte* root = roots_[row.root];
  return root == nullptr ? nullptr : root + row.offset;
}

Addresses::Range Addresses::SlotsOf(uint32_t root) const {
  const auto [begin, end] = std::equal_range(
      slots_.begin(), slots_.end(), Slot{root, 0, 0},
      [](const Slot& a, const Slot& b) { return a.root < b.root; });
  return {static_cast<uint32_t>(begin - slots_.begin()),
          static_cast<uint32_t>(end - slots_.begin())};
}

void Addresses::SetSlots(Range slots, std::byte* memory) {
  for (uint32_t s = slots.first; s < slots.end; ++s) {
    operands_[slots_[s].operand] = memory + slots_[s].offset;
  }
}

void Addresses::Move(uint32_t buffer, std::byte* memory) {
  if (memory != nullptr && roots_[buffer] == memory) return;
  roots_[buffer] = memory;
  callers_[caller_of_[buffer]] = memory;
  SetSlots(SlotsOf(buffer), memory);
}

void Addresses::MoveState(size_t row, std::byte* memory) {
  for (const uint32_t buffer : states_) {
    if (buffers_[buffer].offset != row || roots_[buffer] == memory) continue;
    roots_[buffer] = memory;
    SetSlots(SlotsOf(buffer), memory);
  }
}

void Addresses::Show(const Window& window) {
  const mxc_buffer& row = *window.row;
  std::byte* memory = of(row.root) + row.offset + row.advance * window.index;
  roots_[window.buffer] = memory;
  SetSlots(window.slots, memory);
}

void Addresses::Show(Window& window, int64_t turn) {
  const mxc_buffer& row = *window.row;
  window.index = row.shift + turn;
  if (row.period > 0) window.index %= row.period;
  Show(window);
}

// In the order of their repeats: a root shows its turn before its windows do.
void Addresses::Rewind() {
  for (Window& window : windows_) Show(window, 0);
}

void Addresses::Rewind(uint32_t loop, int64_t turn) {
  if (windows_.empty()) return;
  for (uint32_t w = windows_of_[loop].first; w < windows_of_[loop].end; ++w) {
    Show(windows_[w], turn);
  }
}

void Addresses::Advance(uint32_t loop, bool more) {
  if (windows_.empty()) return;
  for (uint32_t w = windows_of_[loop].first; w < windows_of_[loop].end; ++w) {
    Window& window = windows_[w];
    if (!more && window.row->period == 0) continue;
    if (++window.index == window.row->period) window.index = 0;
    Show(window);
  }
}

}  // namespace mxc::runtime
