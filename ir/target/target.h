// SPDX-License-Identifier: Apache-2.0
// Target: what is compiled for. Never decided by a processor's name, which
// hypervisors mask, but by the features that are there.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/result.h"
#include "ir/target/back_end_options.h"
#include "ir/target/machine.h"

namespace mxc {

// What decides in which order sums are added and where they are rounded: kernels
// and layouts are planned for these instructions. Those of the target itself,
// unless it computes the bytes of another level ("aarch64@x86-64-v4").
struct SumOrder {
  std::string isa, triple, features;  // as the target's, below
  bool fuses = false;  // a product and the sum that it is added to round once

  bool operator==(const SumOrder&) const = default;
};

// CPU features an artifact may need; bits of runtime/abi's mxc_cpu_feature.
struct Target {
  std::string name;  // "x86-64-v3", "aarch64:cortex-a72", "aarch64@x86-64-v4"
  std::string backend = "cpu";  // a row of codegen/targets.def
  std::string device;           // of runtime/device/devices.def; "": the host
  // The generations of the device (DeviceFacts) that run it.
  int least_generation = 0;
  int last_generation = std::numeric_limits<int>::max();
  // How many devices may train one network together.
  int most_replicas = 1;
  std::string text = "asm";  // what is written of kernels, as --emit names it
  BackEndOptions options;    // what its back end alone reads
  // What follows is the host's, also where kernels run on a device.
  std::string triple;              // "x86_64-unknown-linux-gnu"
  std::string isa;                 // as runtime/abi/levels.def: "avx2"
  std::string cpu;                 // LLVM's model, only tuned for: "znver3"
  std::string core;                // of cores.def, if it is for one
  std::string features;            // LLVM's: "+avx2,+fma,…"
  uint64_t required_features = 0;  // runtime/abi bits, checked at load
  int register_bytes = 16;         // of a vector register
  SumOrder order;
  Machine machine;  // that the order is planned for

  // Kernels are functions of the host, which run on its threads and which
  // others can call.
  bool runs_on_host() const { return device.empty(); }
  // It computes what the target of this level alone would.
  bool keeps_own_order() const {
    return order.triple == triple && order.features == features;
  }
  // The machine's numbers are one's: times of steps can be told.
  bool models_time() const { return !runs_on_host() || !core.empty(); }
  // The code is WebAssembly, which a page's engine runs and no artifact holds.
  bool runs_in_page() const { return triple.starts_with("wasm"); }
};

inline constexpr char kOrderMark = '@';

// "native" is resolved to the best level that this machine's features cover;
// `storage` is the type in which a network's tensors are kept. Of "A@B", code is
// for A, and what it computes has the bytes of what "B@B" computes: A is any level
// or core, B any level.
Result<Target> ResolveTarget(std::string_view name,
                             DType storage = DType::kF32);
std::vector<std::string> TargetNames();
// A target that the runtime's device of that name, "cuda:0", runs, whatever its
// generation; empty where that is the host's.
std::string TargetOfDevice(std::string_view device);

}  // namespace mxc
