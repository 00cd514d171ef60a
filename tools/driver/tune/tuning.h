// SPDX-License-Identifier: Apache-2.0
// Tuning: the best kernels of a network's contractions by measuring, as far as
// a cache does not know them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "codegen/codegen.h"
#include "ir/program/kernel_catalog.h"
#include "ir/support/result.h"
#include "ir/target/target.h"
#include "tools/driver/progress.h"
#include "tools/driver/tune/tuning_cache.h"

namespace mxc {

class TunedCatalog;
struct TuningMachine;

struct TuningOptions {
  std::string cache;     // a file; empty: DefaultTuningCache(), if measuring
  double seconds = 30;   // to measure in; a kernel that is not done by then is
                         // the model's guess
  bool measure = false;  // else the cache is only read
  ObjectCache* objects = nullptr;  // of the kernels that are measured
};

// What became of the contractions that have several kernels worth measuring.
struct TuningReport {
  int contractions = 0;
  int cached = 0, measured = 0;  // the others are the model's
  int changed = 0;               // not what the model prefers
  double seconds = 0;
  std::string cache;  // the file; empty where there is none
  std::string note;   // why something was not measured, or not kept
};

class Tuning {
 public:
  static Result<Tuning> Open(const TuningOptions& options, const Target& target,
                             const CatalogOptions& catalog);
  Tuning(Tuning&&) noexcept;
  Tuning& operator=(Tuning&&) noexcept;
  ~Tuning();

  // For the passes; what they ask is noted.
  const KernelCatalog& catalog() const;

  // Measures what was asked for and the cache does not know, the longest first,
  // and keeps it. Whether anything was: the catalog may then answer otherwise.
  Result<bool> Measure(Progress& progress);

  TuningReport Report() const;

 private:
  Tuning(const TuningOptions& options, const Target& target,
         const CatalogOptions& catalog);

  std::vector<std::string> Unknown() const;
  bool MeasureAll(const std::vector<std::string>& contractions,
                  const TuningMachine& machine, Progress& progress);
  Status Keep();

  TuningOptions options_;
  Target target_;
  std::string path_;
  std::unique_ptr<KernelCatalog> model_;
  std::unique_ptr<TuningCache> cache_;
  std::unique_ptr<TunedCatalog> tuned_;
  std::set<std::string> failed_;  // not to be tried again
  int measured_ = 0;
  double seconds_ = 0;
  std::string note_;
};

// "23 contractions: 3 from the cache, 20 measured; 4 not as estimated"
std::string Describe(const TuningReport& report);

}  // namespace mxc
