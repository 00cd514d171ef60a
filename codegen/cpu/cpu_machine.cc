// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/cpu_machine.h"

namespace mxc {
namespace {

void SetAvx512(CpuMachine& machine) {
  machine.vector_registers = 32;
  machine.multiplies_by_memory = true;
  machine.most_tile_vectors = 4;
  machine.most_tile_pixels = 28;
  machine.per_channel_pixels = machine.by_lane_pixels = 14;
  machine.panel_share = 1;
  machine.product_panel_share = 4;
  machine.row_load_cycles = 0.12;
}

// One register stays free, for what is loaded next. Of tiles that short rows cut
// down, wide ones have more sums, which four units with a latency of four need.
void SetNeon(CpuMachine& machine) {
  machine.vector_registers = 31;
  machine.multiplies_by_element = true;
  machine.most_tile_vectors = machine.usual_tile_vectors = 4;
}

// An element goes to all lanes as it is loaded (ld1rw). LLVM exchanges lanes of
// longer vectors than NEON's one by one, through the stack.
void SetSve(CpuMachine& machine) {
  machine.vector_registers = 32;
  machine.exchanged_bytes = 16;
  machine.most_tile_vectors = 4;
}

void SetRvv(CpuMachine& machine) {
  machine.vector_registers = 32;
  machine.multiply_adds = 1;
  machine.loads = 1;
}

// Engines compile for the 16 registers of x86-64 and keep one for themselves. Where a
// tile needs one more, V8 leaves a sum on the stack from step to step: tiles of 3x3
// took 1.6 times as long as those of 4x2. Strassen's algorithm, which cannot save more
// than the margin asks for, loses: what it adds takes as long as multiplying does, and
// nothing fetches its weights ahead.
void SetSimd128(CpuMachine& machine) {
  machine.vector_registers = 15;
  machine.loads_first = true;
  machine.loads = 1;
  machine.fetches_ahead = false;
  machine.strassen_margin = 1.15;
  // As many elements of data wait beside their sums.
  machine.per_channel_pixels = machine.by_lane_pixels = 6;
}

// The kinds of instructions (MXC_LEVEL) that differ from the default.
constexpr struct {
  std::string_view isa;
  void (*set)(CpuMachine& machine);
} kKinds[] = {{"avx512", SetAvx512},
              {"neon", SetNeon},
              {"sve", SetSve},
              {"rvv", SetRvv},
              {"simd128", SetSimd128}};

}  // namespace

CpuMachine CpuMachineOf(const Target& target) {
  CpuMachine machine(target.machine), own(target.machine);
  for (const auto& [isa, set] : kKinds) {
    if (isa == target.order.isa) set(machine);
    if (isa == target.isa) set(own);
  }
  machine.own_registers = own.vector_registers;
  machine.registers_of_vector =
      (machine.vector_bytes + target.register_bytes - 1) /
      target.register_bytes;
  machine.fetches_ahead = own.fetches_ahead;
  machine.exchanged_bytes = own.exchanged_bytes;
  if (target.core.empty()) return machine;
  // What is said of the core holds, whatever its kind usually has.
  machine.multiply_adds = target.machine.multiply_adds;
  machine.loads = target.machine.loads;
  machine.memory_bytes_per_second = target.machine.stream_bytes_per_second;
  machine.shared_l3_bytes = target.machine.l3.bytes;
  return machine;
}

}  // namespace mxc
