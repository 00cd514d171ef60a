// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/own_parts.h"

#include "runtime/base/checksum.h"

namespace mxc::job {

using train::ArtifactKeys;
using train::StateShares;

StatusOr<OwnParts> OwnParts::Of(const runtime::Model& model, uint32_t rank,
                                uint32_t workers, uint64_t cut_from) {
  MXC_RT_ASSIGN(ArtifactKeys keys, train::KeysOf(model.tables()));
  MXC_RT_ASSIGN(StateShares shares, StateShares::Of(keys, workers, cut_from));
  return OwnParts(std::move(keys), std::move(shares), rank);
}

void OwnParts::Cut(size_t state, std::span<std::byte> value) {
  const uint32_t key = keys_.KeyOfState(state);
  if (key >= keys_.position) return;
  const bool kept = keys_.IsOptimizers(key);
  if (!kept && !keys_.IsParameter(key)) return;
  checksums_[key] = value.empty() ? 0 : runtime::Checksum(value);
  if (value.empty()) return;
  if (kept || shares_.IsShared(keys_.table[key])) {
    shares_.ReleaseOthers(value, key, rank_);
  }
}

}  // namespace mxc::job
