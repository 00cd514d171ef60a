// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/tuning_cache.h"

#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunTuningCache(Bytes input) {
  const auto cache = TuningCache::Parse(SourceOf(input));
  if (!cache.ok()) {
    (void)Render(cache.errors());
    return;
  }
  const std::string written = cache->Text();
  const auto again = TuningCache::Parse(SourceOf(BytesOf(written)));
  if (!again.ok()) Wrong("what is written is refused:\n" + written);
  if (again->Text() != written) Wrong("written otherwise:\n" + written);
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
