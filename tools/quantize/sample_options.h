// SPDX-License-Identifier: Apache-2.0
// What the command line says of the samples that forms of a network are measured
// on, and the request that comes of it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/network.h"
#include "tools/quantize/budget.h"
#include "tools/train/train_data.h"

namespace mxc {

struct SampleOptions {
  SampleOptions() { data.shuffle = false; }

  DataRequest data;
  std::string validation;  // empty: what `data` holds out
  std::vector<std::string> validation_options;
  int64_t samples = 512;
};

// --data, --data-opt, --samples, --val, --val-opt, --batch-size, with the words
// of `help data` for the sources.
void AddSampleOptions(CLI::App& app, SampleOptions& options);

// The network with the shapes of the data, and its samples. Takes names of
// classes and what is done to pictures from the data where `compile` has none.
Result<MeasuredRequest> MeasuredOn(const SampleOptions& options,
                                   CompileRequest compile,
                                   const LoadedNetwork& network);

}  // namespace mxc
