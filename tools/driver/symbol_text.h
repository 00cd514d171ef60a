// SPDX-License-Identifier: Apache-2.0
// The network that an artifact keeps. Where it trains, the symbol's variables
// say what MXNet's files have no place for, so that PREFIX-symbol.json and
// PREFIX-NNNN.params alone are enough to go on:
//
//   __shape__        of each input, the batch left open; MXNet's own attribute
//   __label_names__  of the data: runtime/data/label_names.h
//   __preprocess__   of the data: runtime/data/preprocessing.h
#pragma once

#include <map>
#include <string>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "tools/driver/plan.h"

namespace mxc {

Result<std::string> SymbolText(const CompileRequest& request, const Plan& plan);

// "label_names" and "preprocess" of a symbol that says them.
std::map<std::string, std::string> NotesOfSymbol(const Graph& graph);
// Has it say no more what its classes are called.
void ForgetLabelNames(Graph& graph);

}  // namespace mxc
