// SPDX-License-Identifier: Apache-2.0
// Declares the function of every pass in passes.def.
#pragma once

#include "ir/graph/graph.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "passes/pass.h"

namespace mxc {

#define MXC_GRAPH_PASS(name, Function, required, prose) \
  Result<bool> Function(Graph& graph, PassContext& context);
#define MXC_LOWERING(name, Function, prose) \
  Result<Program> Function(const Graph& graph, PassContext& context);
#define MXC_PROGRAM_PASS(name, Function, required, where, prose) \
  Result<bool> Function(Program& program, PassContext& context);
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS

}  // namespace mxc
