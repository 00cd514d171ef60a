// SPDX-License-Identifier: Apache-2.0
// check-operators: a network that uses operators we lack is refused before any
// other work, with all of them, each at its place in the user's file.
#include "ir/graph/supported.h"
#include "passes/passes.h"

namespace mxc {

Result<bool> CheckOperators(Graph& graph, PassContext&) {
  MXC_RETURN_IF_ERROR(RequireSupported(graph));
  return false;
}

}  // namespace mxc
