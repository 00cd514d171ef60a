// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/request.h"

#include <limits>
#include <utility>

#include "runtime/fit/status.h"
#include "runtime/kvstore/averaging.h"
#include "runtime/train/best_epoch.h"
#include "runtime/train/metric.h"
#include "runtime/train/scheduler.h"

namespace mxc::fit {
namespace {

template <class T>
std::string MessageOf(const StatusOr<T>& parsed) {
  return parsed.ok() ? "" : parsed.status().message();
}

}  // namespace

std::string CheckMetrics(const std::string& names) {
  if (names == kNoMetrics) return "";
  return MessageOf(train::MetricList::Parse(names));
}

// All that can be wrong with a schedule but a warm-up that begins above the
// learning rate, which the rate the network was compiled with may settle.
std::string CheckSchedule(const std::string& text) {
  return MessageOf(train::ParseSchedule(text,
                                        std::numeric_limits<double>::max(),
                                        train::RunLength{int64_t{1} << 40, 1}));
}

std::string CheckStopRule(const std::string& text) {
  return MessageOf(train::ParseStopRule(text));
}

namespace {

const char* ShardOf(const Combination& asked) {
  return asked.shards_parameters ? "--shard-parameters" : "--shard-states";
}

// Of a network in stages.
std::string CannotPass(const Combination& asked) {
  const char* const why = " is not for a network in stages, ";
  if (asked.accumulates) {
    return std::string("--accumulate") + why +
           "whose batches pass in --micro-batches";
  }
  if (asked.averages) {
    return std::string("--ema") + why + "each of which keeps its own states";
  }
  if (asked.shards_states || asked.shards_parameters) {
    return ShardOf(asked) + std::string(why) +
           "each of which keeps its own states";
  }
  if (!asked.device.empty() && asked.device != "cpu") {
    return "--device " + asked.device + why + "which processors train";
  }
  const bool said = !asked.kvstore.empty() && asked.kvstore != "dist_sync";
  if (!said) return "";
  return "--kvstore " + asked.kvstore + why +
         "whose workers exchange what passes between stages";
}

// Of a job whose workers each keep a share of the states.
std::string CannotShard(const Combination& asked) {
  const std::string shard = ShardOf(asked);
  if (asked.saves_caffe) {
    return "--save-caffe writes what one process keeps, and with " + shard +
           " each worker keeps its own";
  }
  if (asked.averages && asked.shards_parameters) {
    return "--ema keeps averages of all parameters, of which with " + shard +
           " each worker has a part; take --shard-states";
  }
  if (asked.kvstore == "allreduce") return "";
  return shard +
         " is for --kvstore allreduce, where each worker would "
         "keep all states; with --kvstore " +
         asked.kvstore +
         (kvstore::ParseRule(asked.kvstore)
              ? " each worker makes updates of its own"
              : " servers share them, and workers keep none");
}

}  // namespace

std::string CannotCombine(const Combination& asked) {
  if (asked.stages > 1) return CannotPass(asked);
  if (asked.saves_pieces && !asked.kvstore.empty() && !asked.shards_states &&
      !asked.shards_parameters) {
    return "--save-pieces is for --shard-states and --shard-parameters, where "
           "each worker has a part of what is saved";
  }
  const bool shards = asked.shards_states || asked.shards_parameters;
  if (shards && !asked.kvstore.empty()) {
    const std::string cannot = CannotShard(asked);
    if (!cannot.empty()) return cannot;
  }
  if (asked.accumulates && !asked.device.empty() && asked.device != "cpu") {
    return "--accumulate adds gradients up in the memory of the host, and '" +
           asked.device + "' keeps them on a GPU; take a larger --batch-size";
  }
  if (!kvstore::ParseRule(asked.kvstore)) return "";
  for (const auto& [used, option] :
       {std::pair(asked.accumulates, "--accumulate"),
        std::pair(asked.averages, "--ema")}) {
    if (!used) continue;
    return std::string(option) +
           " is for workers that exchange gradients, and those of --kvstore " +
           asked.kvstore + " make updates of their own";
  }
  return "";
}

}  // namespace mxc::fit
