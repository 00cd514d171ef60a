// SPDX-License-Identifier: Apache-2.0
// GpuMachine: what the kernels for NVIDIA's devices, and what they cost, ask of
// a device beside what every part of the compiler does (ir/target/machine.h).
#pragma once

#include <cstdint>
#include <string>

#include "ir/target/machine.h"
#include "ir/target/target.h"

namespace mxc {

struct GpuMachine : Machine {
  explicit GpuMachine(const Machine& machine) : Machine(machine) {}

  std::string architecture;     // as LLVM names it: "sm_90"
  bool one_generation = false;  // later ones do not run it
  bool emulated = false;        // kernels run on this machine
  // Each has its own units, and threads that share them.
  int64_t multiprocessors = 1;

  // Threads that keep the device busy, each of which computes one vector.
  int64_t busy_threads() const;
  // What one multiprocessor reads and writes in a second, of 32 bytes a clock:
  // few blocks do not reach what the memory can do.
  double multiprocessor_bytes_per_second() const;
};

// Of a target of this back end, from its options: "architecture",
// "multiprocessors" and, where kernels run on this machine, "emulated".
GpuMachine GpuMachineOf(const Target& target);

}  // namespace mxc
