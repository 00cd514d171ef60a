// SPDX-License-Identifier: Apache-2.0
// How long kernels take on this machine.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/support/result.h"
#include "ir/target/target.h"
#include "tools/driver/figures.h"
#include "tools/driver/tune/tuning_cache.h"

namespace mxc {

class ObjectCache;

// What kernels of a target are measured on.
struct TuningMachine {
  std::string name;  // "AMD EPYC", "NVIDIA H100 80GB HBM3": as it calls itself
  bool has_libraries = false;  // of a device (KernelCandidate::library)
};

// An error that says why, if this machine cannot run code for the target.
Result<TuningMachine> FindMachine(const Target& target);

class KernelTimer {
 public:
  // Threads: one, and as many as this process may run at once; of a device, one.
  // `objects` may be null.
  explicit KernelTimer(const Target& target, ObjectCache* objects = nullptr);
  int threads() const { return threads_; }

  // The time of each kernel for the contraction, within a network (trial.h):
  // the fastest of several runs, which the kernels take in turns. Nothing if
  // `watch` passed `deadline` seconds before all had run often enough.
  // `catalog` offers the kernels.
  Result<std::optional<std::vector<KernelTimes>>> Measure(
      const Contraction& contraction, std::span<const KernelCandidate> kernels,
      const KernelCatalog& catalog, const Stopwatch& watch, double deadline);

 private:
  const Target target_;
  ObjectCache* const objects_;
  const int threads_;
  std::vector<std::byte> eviction_;  // more than the caches hold
};

}  // namespace mxc
