// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/settings.h"

namespace mxc::kvstore {

StatusOr<Mode> ParseMode(std::string_view name) {
  if (name == "dist_sync" || name == "dist" || name == "dist_device_sync" ||
      name == "dist_sync_device") {
    return Mode::kSync;
  }
  if (name == "dist_async" || name == "dist_async_device") return Mode::kAsync;
  return Fail(
      StatusCode::kInvalidArgument,
      "kvstore '%s' is unknown; expected local, dist_sync or dist_async",
      std::string(name).c_str());
}

std::string Describe(const Settings& settings) {
  return Format("%s, %u workers, gradients %s, compression %s, keys %016llx%s",
                settings.mode == Mode::kSync ? "dist_sync" : "dist_async",
                settings.workers, settings.mean ? "averaged" : "summed",
                settings.compression.text().c_str(),
                static_cast<unsigned long long>(settings.keys),
                settings.placement == Placement::kBySize ? "" : " in turn");
}

}  // namespace mxc::kvstore
