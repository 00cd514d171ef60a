// SPDX-License-Identifier: Apache-2.0
// The options that say where samples come from, and the iterators over them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/train_step.h"

namespace mxc::run {

struct SampleOptions {
  std::string data;                   // --data
  std::vector<std::string> settings;  // --data-opt k=v
  std::vector<std::string> offered;   // data::IteratorOptions::offered
  std::string on_bad_record = "skip";
  uint64_t seed = 0;
  int threads = 1;  // that read ahead
  // As data::IteratorOptions; of what is trained on alone.
  int64_t worker = 0, workers = 1;
  // data::Iterator::preprocessing of the parameters; empty: as the step says.
  std::string trained;
};

void DeclareSamples(CLI::App& app, SampleOptions& options);

// Samples to train on, for batches such as `step` takes, and samples to score:
// those that are held out from training or, where none are, all. Labels get their numbers from what `step` was compiled
// for; where that is not known from `label_names`, else from the data. Both
// throw a Failure.
std::unique_ptr<data::Iterator> OpenTraining(const SampleOptions& options,
                                             bool shuffle,
                                             const train::TrainStep& step);
std::unique_ptr<data::Iterator> OpenScoring(
    const SampleOptions& options, const std::vector<std::string>& label_names,
    const train::TrainStep& step);

}  // namespace mxc::run
