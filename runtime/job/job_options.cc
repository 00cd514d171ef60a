// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/job_options.h"

#include <array>
#include <string_view>

#include "runtime/base/joined.h"
#include "runtime/base/nearest.h"

namespace mxc::job {

Leaving JobOptions::leaving() const {
  if (exchange == "in-order") return Leaving::kInOrder;
  return exchange == "after-step" ? Leaving::kAfterStep : Leaving::kUrgent;
}

std::string CheckKvstore(const std::string& name) {
  JobOptions options;
  options.kvstore = name;
  if (options.averages() || options.reduces() ||
      kvstore::ParseMode(name).ok()) {
    return "";
  }
  if (name == "local" || name == "device" || name == "nccl") {
    return "'" + name +
           "' is of one process, which needs no --kvstore; several GPUs: "
           "--device cuda:0,cuda:1";
  }
  constexpr auto kNames = std::to_array<std::string_view>(
      {"dist_sync", "dist_async", "dist_ssp", "allreduce", "allreduce_ea",
       "block_momentum"});
  return "'" + name + "' is none of " + runtime::Joined(kNames, ", ") +
         runtime::NearestNote(runtime::Nearest(name, kNames));
}

}  // namespace mxc::job
