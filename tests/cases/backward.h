// SPDX-License-Identifier: Apache-2.0
// The backward pass of an operator case.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

// Why the gradients that MXNet gave in this case are not to be had; empty: they
// are.
std::string Deviation(const nlohmann::json& line);

// Appends to the graph's outputs what auxiliary states are after a run, and to
// `expected` their names in `tensors`, for runs that are no training.
void AppendNextStates(Graph& graph,
                      const std::map<std::string, Tensor>& tensors,
                      std::vector<std::string>& expected);

// Appends to the graph's outputs the gradients that the case's line in
// index.jsonl asks for, and the next values of auxiliary states. Head gradients
// (and, where grad_req is add, what the gradients are added to) become inputs,
// whose values are moved from `tensors` to `inputs`. Types must be known.
// Returns the name in `tensors` of each appended output.
Result<std::vector<std::string>> AppendBackward(
    Graph& graph, const nlohmann::json& line,
    const std::map<std::string, Tensor>& tensors,
    std::map<std::string, Tensor>& inputs);

}  // namespace mxc
