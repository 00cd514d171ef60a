// SPDX-License-Identifier: Apache-2.0
// From a function's graph to code: the ordinary passes, or what any process made
// of the same graph before.
#pragma once

#include <string>

#include "ir/support/result.h"
#include "runtime/ndarray/compiled_call.h"
#include "tools/imperative/function_graph.h"

namespace mxc {

// Any thread. `name`: of the program and its kernels; `inputs`: how many a call
// gives.
Result<runtime::CompiledOperator> CompileFunction(FunctionGraph function,
                                                  const std::string& name,
                                                  size_t inputs);

}  // namespace mxc
