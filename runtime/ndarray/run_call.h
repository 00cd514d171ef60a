// SPDX-License-Identifier: Apache-2.0
// One call of something compiled on arrays, as it is given to the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/operator_call.h"

namespace mxc::runtime {

// With the arrays of somebody who has them as long as this lasts.
struct GivenCall {
  const std::shared_ptr<CallableOperator>& op;
  const CompiledCallPtr& compiled;
  ArrayRefs inputs;
  ArrayRefs outputs;  // visible ones, next values of inputs, hidden ones
  uint64_t seed = 0, draw = 0;

  std::string Text() const { return op->Text(TypesOf(inputs)); }
  // At once.
  Status Run() const;
};

// Pushes it; runs it at once where it is brief and nothing has to be waited for.
void RunCall(Engine& engine, const GivenCall& call);

// The status, and which call it is of.
template <class Text>  // asked where something is wrong
Status Prefixed(const Status& status, const Text& text) {
  if (status.ok()) return status;
  return {status.code(), text() + ": " + status.message()};
}

std::vector<NDArray> CopiesOf(ArrayRefs arrays);

}  // namespace mxc::runtime
