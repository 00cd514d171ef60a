// SPDX-License-Identifier: Apache-2.0
// What narrow-weights is about to do, for whoever chooses by it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "passes/weight_storage.h"

namespace mxc {

// A constant of which products will read one of fewer bits.
struct NarrowedWeight {
  std::string name;  // that WeightStorage::kept names
  // What its elements will be off by: the root of the sum of squares, relative
  // to that of the elements. Reads them all, each time.
  std::function<double()> error;
};

// Those of a program as the pass finds it, each once; also of the programs in
// its steps.
std::vector<NarrowedWeight> WeightsToNarrow(const Program& program,
                                            const WeightStorage& storage);

}  // namespace mxc
