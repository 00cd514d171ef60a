// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/state_shares.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "runtime/base/pages.h"
#include "runtime/kvstore/parts.h"

namespace mxc::train {
namespace {

constexpr uint64_t kLeastShared = 1 << 14;

// As servers cut and place keys, whole tasks of an update alone.
kvstore::Settings SettingsOf(uint32_t workers, uint64_t cut_from) {
  kvstore::Settings settings;
  settings.servers = workers;
  settings.cut_from = cut_from;
  settings.slice = std::numeric_limits<uint64_t>::max();
  return settings;
}

// All keys of a group are cut as the parameter is.
kvstore::KeyTable TableOf(const ArtifactKeys& keys) {
  kvstore::KeyTable table(keys.table.begin(),
                          keys.table.begin() + keys.position);
  std::map<uint32_t, kvstore::KeySpec> trained;  // by group
  for (const kvstore::KeySpec& key : table) {
    if (key.trained) trained[key.group] = key;
  }
  for (kvstore::KeySpec& key : table) {
    const auto found = trained.find(key.group);
    if (found == trained.end()) continue;
    key.width = found->second.width;
    key.indivisible = found->second.indivisible ||
                      (found->second.grain == 0 && !found->second.sparse());
  }
  return table;
}

}  // namespace

runtime::StatusOr<StateShares> StateShares::Of(const ArtifactKeys& keys,
                                               uint32_t workers,
                                               uint64_t cut_from) {
  if (keys.shares) {
    return runtime::Fail(
        runtime::StatusCode::kUnsupported,
        "the optimizer keeps something for all parameters together, which each "
        "update changes, so no worker can update a share of them by itself; "
        "train without --shard-states");
  }
  const kvstore::KeyTable table = TableOf(keys);
  const kvstore::Parts cut(table, SettingsOf(workers, cut_from));
  StateShares shares;
  shares.least_shared_ = std::min(kLeastShared, cut_from);
  shares.optimizer_.resize(workers);
  shares.parameters_.resize(workers);
  shares.parts_.resize(table.size());
  for (uint32_t row = 0; row < cut.table.size(); ++row) {
    const kvstore::Parts::Part& part = cut.parts[row];
    const uint64_t bytes = cut.table[row].bytes;
    shares.parts_[part.key].push_back(
        {part.begin, bytes / sizeof(float), part.server});
    if (keys.IsOptimizers(part.key)) shares.optimizer_[part.server] += bytes;
    if (shares.IsShared(keys.table[part.key])) {
      shares.parameters_[part.server] += bytes;
    }
  }
  return shares;
}

// One that is cut has a float for each element of its parameter.
std::span<std::byte> StateShares::In(std::span<std::byte> value, uint32_t key,
                                     const Part& part) const {
  if (Parts(key).size() == 1) return value;
  return value.subspan(part.begin * sizeof(float), part.count * sizeof(float));
}

void StateShares::ReleaseOthers(std::span<std::byte> value, uint32_t key,
                                uint32_t worker) const {
  for (const Part& part : Parts(key)) {
    if (part.worker != worker) runtime::ReleasePages(In(value, key, part));
  }
}

StateShares::Bytes StateShares::Sum(const std::vector<uint64_t>& by_worker) {
  return {std::accumulate(by_worker.begin(), by_worker.end(), uint64_t{0}),
          std::ranges::max(by_worker)};
}

}  // namespace mxc::train
