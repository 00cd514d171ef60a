// SPDX-License-Identifier: Apache-2.0
// The forms of Loads and Stores that fusion asks for. step_uses.h says which
// steps read a buffer.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// The store's value with the axis's variable for a Load's index 0, on every axis
// of the box whose only index is 0: then a broadcast of a single row is read at
// the identity index.
Expr WithIdentityUnitIndices(const Store& store);

bool HasReduce(const Expr& e);
// Adds the reductions of `e` that lie in no other one, each once.
void CollectOutermostReductions(const Expr& e, std::vector<Expr>& found);

// It writes the next value of a state.
bool UpdatesState(const Program& program, const Step& step);

// One store that covers the whole of its output.
bool CoversOutput(const Program& program, const Step& step, const Store& store);

// The range of each index variable of a box.
IntervalOf BoxOf(const Extents& begin, const Extents& extent);

// The step comes from these nodes, each once, and is called after them.
void SetOrigins(const std::vector<const std::vector<std::string>*>& lists,
                Step& step);
// Joins the names and origins of `absorbed`, which runs first, into `step`, which
// computes gradients alone if both did.
void JoinOrigins(const Step& absorbed, Step& step);

// The step does nothing but copy an internal buffer to an output.
bool CopiesToOutput(const Program& program, const Step& step);

}  // namespace mxc
