// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/retention.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "runtime/base/remote_files.h"
#include "runtime/train/checkpoint.h"

namespace mxc::train {
namespace {

void Remove(const CheckpointName& name) {
  for (const std::string& file : FilesOf(name)) {
    (void)runtime::RemoveFile(file);
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
  const auto sets = SetsOf(prefix);
  if (!sets.ok()) return;
  std::vector<CheckpointName> within, after;
  for (const CheckpointName& name : *sets) {
    if (RunOf(name.Path("mxc")) != run) continue;
    (name.prefix == prefix ? after : within).push_back(name);
  }
  RemoveBeyond(retention.steps, 0, std::move(within));
  if (retention.epochs == 0) return;
  RemoveBeyond(retention.epochs, retention.best, std::move(after));
}

}  // namespace mxc::train
