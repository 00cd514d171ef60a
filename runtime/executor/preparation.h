// SPDX-License-Identifier: Apache-2.0
// Weights that a file holds as they are, and that kernels read in a larger form
// (Winograd's): transformed when the file is opened, by its own code.
#pragma once

#include "runtime/artifact/code.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/bytes.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// The prepared region; empty where the tables ask for none. The steps run on
// the calling thread.
StatusOr<Region> PrepareWeights(const Tables& tables, const Code& code,
                                Bytes weights);

}  // namespace mxc::runtime
