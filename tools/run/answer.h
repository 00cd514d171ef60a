// SPDX-License-Identifier: Apache-2.0
// What a run says: its outputs, and the best classes of the first one.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/formats/array.h"
#include "runtime/mxc.hpp"
#include "tools/run/sample_batches.h"

namespace mxc::run {

// "float32 (2, 10)"
std::string Describe(const runtime::Array& array);

std::vector<float> Floats(const runtime::Array& array);

// What the executor's last run computed. Of an output of which only some rows
// are there (MXC_USE_COUNT) these.
std::vector<OutputValues> Results(const api::Executor& executor,
                                  const std::vector<mxc_tensor>& outputs);

// [{name, shape, dtype}…]
nlohmann::ordered_json DescribeOutputs(
    const std::vector<OutputValues>& outputs);

// [[{index, label, value}…] for each row of the output], best first; equal
// values in the order of the classes. A class that has no label has an empty one.
// Throws a Failure where it is not of floats.
nlohmann::ordered_json Top(const OutputValues& output, int count,
                           const std::vector<std::string>& labels);

// The smallest compiled batch that holds the samples, else the largest.
size_t EntryFor(const api::Model& model, size_t entry, int64_t samples);

}  // namespace mxc::run
