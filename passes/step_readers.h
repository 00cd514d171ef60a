// SPDX-License-Identifier: Apache-2.0
// Who reads and writes a buffer, and the shapes of Loads that fusion asks for.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// The steps that read `buffer`, in order, each once.
std::vector<int> ReadersOf(const Program& program, int buffer);

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

// Joins the names and origins of `absorbed`, which runs first, into `step`.
void JoinOrigins(const Step& absorbed, Step& step);

}  // namespace mxc
