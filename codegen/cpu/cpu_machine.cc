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

void SetNeon(CpuMachine& machine) {
  machine.vector_registers = 32;
  machine.multiplies_by_element = true;
  machine.most_tile_vectors = 4;
}

void SetRvv(CpuMachine& machine) {
  machine.vector_registers = 32;
  machine.multiply_adds = 1;
  machine.loads = 1;
}

// Engines compile for the 16 registers of x86-64 and keep one for themselves; a
// product waits in one more for its sum, which no instruction of WebAssembly
// adds it to. A tile that does not fit is spilled in each step.
void SetSimd128(CpuMachine& machine) { machine.vector_registers = 12; }

// The kinds of instructions (MXC_LEVEL) that differ from the default.
constexpr struct {
  std::string_view isa;
  void (*set)(CpuMachine& machine);
} kKinds[] = {{"avx512", SetAvx512},
              {"neon", SetNeon},
              {"rvv", SetRvv},
              {"simd128", SetSimd128}};

}  // namespace

CpuMachine CpuMachineOf(const Target& target) {
  CpuMachine machine(target.machine);
  for (const auto& [isa, set] : kKinds) {
    if (isa == target.isa) set(machine);
  }
  return machine;
}

}  // namespace mxc
