// SPDX-License-Identifier: Apache-2.0
// Target: what is compiled for. Never decided by a processor's name, which
// hypervisors mask, but by the features that are there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/result.h"
#include "ir/target/machine.h"

namespace mxc {

// CPU features an artifact may need; bits of runtime/abi's mxc_cpu_feature.
struct Target {
  std::string name;             // "x86-64-v3"
  std::string backend = "cpu";  // a row of codegen/targets.def
  std::string device;           // of runtime/device/devices.def; "": the host
  // Of NVIDIA's devices: "sm_90", and the least that they are, 90.
  std::string architecture;
  int sm = 0;
  bool one_generation = false;  // "sm_90a": later ones do not run it
  bool emulated = false;        // kernels of the device run on this machine
  std::string text = "asm";  // what is written of kernels, as --emit names it
  // What follows is the host's, also where kernels run on a device.
  std::string triple;              // "x86_64-unknown-linux-gnu"
  std::string cpu;                 // LLVM's model, only tuned for: "znver3"
  std::string features;            // LLVM's: "+avx2,+fma,…"
  uint64_t required_features = 0;  // runtime/abi bits, checked at load
  Machine machine;
};

// "native" is resolved to the best level that this machine's features cover;
// `storage` is the type in which a network's tensors are kept.
Result<Target> ResolveTarget(std::string_view name,
                             DType storage = DType::kF32);
std::vector<std::string> TargetNames();

}  // namespace mxc
