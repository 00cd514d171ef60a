// SPDX-License-Identifier: Apache-2.0
// TrainingOptions::micro_batches as the user's network allows them.
#pragma once

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "tools/driver/request.h"

namespace mxc {

// The network of a whole batch becomes that of one of its parts. Every input
// has to have the batch as its first axis, in equal parts.
Status CutIntoMicroBatches(const CompileRequest& request, Graph& graph);

}  // namespace mxc
