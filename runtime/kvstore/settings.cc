// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/settings.h"

namespace mxc::kvstore {

StatusOr<Mode> ParseMode(std::string_view name) {
  if (name == "dist_sync" || name == "dist" || name == "dist_device_sync" ||
      name == "dist_sync_device") {
    return Mode::kSync;
  }
  if (name == "dist_async" || name == "dist_async_device") return Mode::kAsync;
  if (name == "dist_ssp") return Mode::kSsp;
  return Fail(StatusCode::kInvalidArgument,
              "kvstore '%s' is unknown; expected local, dist_sync, dist_async, "
              "dist_ssp, allreduce, allreduce_ea or block_momentum",
              std::string(name).c_str());
}

namespace {

std::string NameOf(const Settings& settings) {
  switch (settings.mode) {
    case Mode::kSync:
      return "dist_sync";
    case Mode::kAsync:
      return "dist_async";
    case Mode::kSsp:
      return Format("dist_ssp of staleness %u", settings.staleness);
  }
  return "";
}

}  // namespace

std::string Describe(const Settings& settings) {
  return Format(
      "%s%s%s, %u workers, %u servers, gradients %s, compression %s, keys "
      "%016llx%s, cut from %llu elements, in slices of %llu",
      NameOf(settings).c_str(),
      settings.rule.empty() ? "" : (", " + settings.rule).c_str(),
      settings.order.empty() ? "" : (", sums of " + settings.order).c_str(),
      settings.workers, settings.servers, settings.mean ? "averaged" : "summed",
      settings.compression.text().c_str(),
      static_cast<unsigned long long>(settings.keys),
      settings.placement == Placement::kBySize ? "" : " in turn",
      static_cast<unsigned long long>(settings.cut_from),
      static_cast<unsigned long long>(settings.slice));
}

}  // namespace mxc::kvstore
