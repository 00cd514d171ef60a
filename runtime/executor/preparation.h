// SPDX-License-Identifier: Apache-2.0
// Weights that kernels read in a larger form (Winograd's) than the file holds:
// the file's own code transforms them when the file is opened.
#pragma once

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/executor/model.h"

namespace mxc::runtime {

// The prepared region of a model that has all but this; empty where its tables
// ask for none. The steps run on the calling thread.
StatusOr<Region> PrepareWeights(const Model& model);

}  // namespace mxc::runtime
