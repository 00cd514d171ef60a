// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/retention.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "runtime/train/checkpoint.h"

namespace mxc::train {
namespace {

// The record goes last: a set is known by it until all of it is gone.
void Remove(const CheckpointName& name) {
  std::error_code error;
  for (const char* extension : {"states", "params", "mxc"}) {
    std::filesystem::remove(name.Path(extension), error);
  }
}

void RemoveBeyond(int64_t kept, std::vector<CheckpointName> sets) {
  std::ranges::sort(sets, std::greater(), &CheckpointName::number);
  for (size_t i = static_cast<size_t>(std::max<int64_t>(kept, 1));
       i < sets.size(); ++i) {
    Remove(sets[i]);
  }
}

}  // namespace

void RemoveOutdated(const std::string& prefix, const std::string& run,
                    const Retention& retention) {
  std::vector<CheckpointName> within, after;
  for (const CheckpointName& name : SetsOf(prefix)) {
    if (RunOf(name.Path("mxc")) != run) continue;
    if (name.prefix != prefix) {
      within.push_back(name);
    } else if (name.number != retention.best) {
      after.push_back(name);
    }
  }
  RemoveBeyond(retention.steps, std::move(within));
  if (retention.epochs > 0) RemoveBeyond(retention.epochs, std::move(after));
}

}  // namespace mxc::train
