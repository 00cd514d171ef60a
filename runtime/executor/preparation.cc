// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/preparation.h"

#include <algorithm>

#include "runtime/base/float_mode.h"
#include "runtime/executor/sequencer.h"

namespace mxc::runtime {

StatusOr<Region> PrepareWeights(const Model& model) {
  const mxc_entry* entry = model.tables().preparation();
  if (entry == nullptr) return Region();
  StatusOr<Region> region =
      Region::Allocate(entry->arena_bytes, "the prepared weights");
  if (!region.ok()) return region;
  StatusOr<Region> scratch = Region::Allocate(
      std::max<uint64_t>(entry->scratch_bytes, MXC_SCRATCH_NOTE),
      "scratch for weights");
  if (!scratch.ok()) return scratch;
  Sequencer sequencer(
      model, *entry,
      {.weights = model.weights().data(), .arena = region->data()},
      {.memory = scratch->data()}, /*threads=*/1);
  const FloatMode mode;
  sequencer.Begin(/*thread=*/0);
  const Status status = sequencer.Outcome();
  if (!status.ok()) return status;
  return region;
}

}  // namespace mxc::runtime
