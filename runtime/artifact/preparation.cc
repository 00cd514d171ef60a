// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/preparation.h"

#include <algorithm>
#include <vector>

#include "runtime/base/float_mode.h"

namespace mxc::runtime {
namespace {

// Where each buffer of the entry lies.
std::vector<void*> Place(std::span<const mxc_buffer> buffers, Bytes weights,
                         std::byte* arena) {
  // Weights are only read: the check of the tables saw to it.
  auto* const first = const_cast<std::byte*>(weights.data());
  std::vector<void*> places;
  for (const mxc_buffer& buffer : buffers) {
    const bool alias = buffer.kind == MXC_BUFFER_ALIAS;
    const mxc_buffer& root = buffers[buffer.root];
    std::byte* base = root.kind == MXC_BUFFER_WEIGHT ? first : arena;
    places.push_back(base + root.offset + (alias ? buffer.offset : 0));
  }
  return places;
}

}  // namespace

StatusOr<Region> PrepareWeights(const Tables& tables, const Code& code,
                                Bytes weights) {
  const mxc_entry* entry = tables.preparation();
  if (entry == nullptr) return Region();
  StatusOr<Region> region =
      Region::Allocate(entry->arena_bytes, "the prepared weights");
  if (!region.ok()) return region;
  StatusOr<Region> scratch = Region::Allocate(
      std::max<uint64_t>(entry->scratch_bytes, 1), "scratch for weights");
  if (!scratch.ok()) return scratch;
  const std::vector<void*> places =
      Place(tables.Buffers(*entry), weights, region->data());
  const FloatMode mode;
  std::vector<void*> operands;
  for (const mxc_step& step : tables.Steps(*entry)) {
    if (step.tasks == 0) continue;
    operands.clear();
    for (const uint32_t operand : tables.Operands(step)) {
      operands.push_back(places[operand]);
    }
    code.kernel(step.kernel)(operands.data(), 0, step.tasks, scratch->data());
  }
  return region;
}

}  // namespace mxc::runtime
