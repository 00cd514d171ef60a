// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/retention.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "runtime/train/checkpoint.h"

namespace mxc::train {
namespace {

void Remove(const CheckpointName& name) {
  std::error_code error;
  for (const std::string& file : FilesOf(name)) {
    std::filesystem::remove(file, error);
  }
}

void RemoveBeyond(int64_t kept, int64_t best,
                  std::vector<CheckpointName> sets) {
  std::ranges::sort(sets, std::greater(), &CheckpointName::number);
  for (size_t i = static_cast<size_t>(std::max<int64_t>(kept, 1));
       i < sets.size(); ++i) {
    if (sets[i].number != best) Remove(sets[i]);
  }
}

}  // namespace

void RemoveOutdated(const std::string& prefix, const std::string& run,
                    const Retention& retention) {
  std::vector<CheckpointName> within, after;
  for (const CheckpointName& name : SetsOf(prefix)) {
    if (RunOf(name.Path("mxc")) != run) continue;
    (name.prefix == prefix ? after : within).push_back(name);
  }
  RemoveBeyond(retention.steps, 0, std::move(within));
  if (retention.epochs == 0) return;
  RemoveBeyond(retention.epochs, retention.best, std::move(after));
}

}  // namespace mxc::train
