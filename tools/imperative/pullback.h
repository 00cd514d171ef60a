// SPDX-License-Identifier: Apache-2.0
// What a function of arrays passes back: the gradients of its inputs from those
// of its outputs, by the rules of ir/graph/gradient.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "runtime/ndarray/operator_call.h"
#include "tools/imperative/function_graph.h"

namespace mxc {

FunctionGraph CopyOf(const FunctionGraph& function);

// The function as records have it: ready for rules of gradients, with those of
// its values as hidden outputs that they read. Where it has no gradient it is
// recorded nevertheless; whoever asks for one hears why.
Result<runtime::RecordedForm> FormOf(FunctionGraph function, size_t inputs);

// Of a source that FormOf has made.
const FunctionGraph& FunctionOf(const runtime::GradientSource& source);
// Which of RecordedForm::saved the value, of that function, is.
std::optional<uint32_t> SavedAs(const runtime::GradientSource& source,
                                Value value);

// A copy of a function, and behind it nodes that compute gradients.
struct Pullback {
  Graph graph;
  size_t forward_nodes = 0;      // have the ids of the function's
  std::vector<Value> heads;      // variables, for each recorded output or empty
  std::vector<Value> gradients;  // of each input; empty: none arrives

  bool IsForward(Value value) const {
    return static_cast<size_t>(value.node->id()) < forward_nodes;
  }
};

// `heads`: of which recorded outputs a gradient arrives; `needed`: of which
// inputs it is asked for.
Result<Pullback> PullBack(const FunctionGraph& function,
                          const std::vector<bool>& heads,
                          const std::vector<bool>& needed);

}  // namespace mxc
