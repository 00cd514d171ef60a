// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/tuning_cache.h"

#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunTuningCache(Bytes input) {
  CheckReadsBack(
      input, [](const auto& source) { return TuningCache::Parse(source); },
      [](const TuningCache& cache) { return cache.Text(); });
}

std::vector<std::string> TuningCacheSeeds() {
  TuningCache cache;
  TuningEntry entry;
  entry.machine = "a machine";
  entry.threads = 2;
  entry.kernels = {{"direct 16c 14x2", {1033420, 524110}},
                   {"winograd 4", {33420, 24110}}};
  cache.Put("x86-64-v4", "n=1 g=1 k=64 m=64", entry);
  cache.Put("x86-64-v3", "n=1 g=1 k=64 m=64", entry);
  return {cache.Text(), TuningCache().Text()};
}

}  // namespace

extern const Target tuning_cache;
const Target tuning_cache = {
    .run = RunTuningCache,
    .seeds = TuningCacheSeeds,
    .most_bytes = 512,
    .words = {"\"mxc_tuning_cache\": 1", "\"entries\": [",
              "\"target\": ", "\"contraction\": ", "\"machine\": ",
              "\"threads\": ", "\"ns\": {", "[1, 2]"}};

}  // namespace mxc::fuzz
