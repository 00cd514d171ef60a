// SPDX-License-Identifier: Apache-2.0
// A KVStore as MXNet's: parameters by key, one array for each device of this
// process. The first level adds what the devices push; the second, in a job,
// what its workers do.
//
//   local, device   in this process: without an updater a value is what was
//                   pushed last, all devices together
//   dist_…          a worker of a job: servers have the values
//
// Calls begin, and return; Wait ends them. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kvstore/rows.h"
#include "runtime/kvstore/shelf.h"
#include "runtime/kvstore/worker.h"

namespace mxc::kvstore {

// The arrays of the devices, in their order; all of a key's size.
using Pushed = std::span<const std::span<const float>>;
using Pulled = std::span<const std::span<float>>;

// Rows that a device wants of a sparse key, and where: a row for each number.
struct WantedRows {
  std::span<const uint64_t> numbers;
  std::span<float> elements;
};

// The sum of arrays, to the bit as MXNet 1.9.1 adds them on a CPU
// (src/kvstore/comm.h, ReduceSumCPU): the first, then groups of four, each
// added up before it is added.
void Reduce(Pushed arrays, std::span<float> sum);

class KVStore {
 public:
  virtual ~KVStore() = default;

  // The key's first value. Once for each key; in a job by the worker of rank 0.
  virtual Status Init(uint32_t key, std::span<const float> value) = 0;
  // Both are read, or written, until Wait. A pull gives what the pushes before
  // it have made. Smaller priorities come first.
  virtual Status Push(uint32_t key, Pushed gradients, int64_t priority = 0) = 0;
  virtual Status Pull(uint32_t key, Pulled values, int64_t priority = 0) = 0;
  // The same of some rows of a sparse key, which alone are updated; for each
  // device. Their numbers, in any order, may be equal: such rows are added, or
  // come twice (MXNet's row_sparse gradients and row_sparse_pull).
  virtual Status PushRows(uint32_t key, std::span<const Rows> gradients,
                          int64_t priority = 0) = 0;
  virtual Status PullRows(uint32_t key, std::span<const WantedRows> values,
                          int64_t priority = 0) = 0;
  virtual Status Wait(uint32_t key) = 0;
  // What updaters are told with each push from now on.
  void SetLearningRate(double rate) { rate_ = rate; }

 protected:
  double rate_ = 1;
};

// "local", "device", and MXNet's longer names of them.
bool IsLocal(std::string_view name);
// The shelf updates; both must outlive the store.
std::unique_ptr<KVStore> MakeLocalStore(const KeyTable& keys, Shelf& shelf);
// The same for the worker.
std::unique_ptr<KVStore> MakeJobStore(const KeyTable& keys, Worker& worker);

}  // namespace mxc::kvstore
