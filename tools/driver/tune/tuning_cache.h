// SPDX-License-Identifier: Apache-2.0
// What was measured, in a file that can be shipped: how long each of the
// kernels that fit a contraction takes. One line for each contraction and
// target, in order, so that a version control system shows what changed:
//
//   {"mxc_tuning_cache": 1, "entries": [
//   {"target": "x86-64-v4", "contraction": "n=1 g=1 k=64 m=64 …",
//    "machine": "AMD EPYC", "threads": 2,
//    "ns": {"direct 16c 14x2": [1033420, 524110], …}}
//   ]}
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ir/support/result.h"

namespace mxc {

// Nanoseconds on one thread and on all.
struct KernelTimes {
  int64_t one = 0, all = 0;
  friend bool operator==(const KernelTimes&, const KernelTimes&) = default;
};

struct TuningEntry {
  std::string machine;  // where it was measured, for people
  int threads = 1;      // what "all" was
  std::map<std::string, KernelTimes> kernels;  // by KernelCatalog::NameOf
  friend bool operator==(const TuningEntry&, const TuningEntry&) = default;
};

class TuningCache {
 public:
  // A file that is not there is an empty cache; one that is no cache, or a
  // damaged one, is an error with its place.
  static Result<TuningCache> Read(const std::string& path);
  static Result<TuningCache> Parse(std::shared_ptr<const SourceFile> text);

  // Null if nothing is known.
  const TuningEntry* Find(const std::string& target,
                          const std::string& contraction) const;
  void Put(const std::string& target, const std::string& contraction,
           TuningEntry entry);

  // What was put goes into the file, beside what others wrote there meanwhile.
  // Makes the folder.
  Status Write(const std::string& path) const;
  std::string Text() const;

 private:
  using Key = std::pair<std::string, std::string>;  // target, contraction
  std::map<Key, TuningEntry> entries_, put_;
};

// Where tuning is kept if nobody names a file: tuning.json in CacheFolder();
// empty where there is none.
std::string DefaultTuningCache();

}  // namespace mxc
