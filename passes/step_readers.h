// SPDX-License-Identifier: Apache-2.0
// The shapes of Loads and Stores that fusion asks for. Who reads a buffer says
// step_uses.h.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// The index of a Load is i0, i1, …: the reader's own index.
bool IsOwnIndex(const std::vector<Expr>& index);

// Where an axis of the box has one index only, 0, a Load's 0 on that axis
// becomes its variable: a broadcast of a single row is a read at the own index.
Expr WithOwnUnitIndices(const Store& store);

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
// Joins the names and origins of `absorbed`, which runs first, into `step`.
void JoinOrigins(const Step& absorbed, Step& step);

}  // namespace mxc
