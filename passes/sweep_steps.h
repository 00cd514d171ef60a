// SPDX-License-Identifier: Apache-2.0
// What merge-sweeps asks of one step and of two.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// A step and what is asked of it again and again.
struct SweepStep {
  Step step;
  bool is_sweep = false;
  std::vector<Expr> reductions;  // that lie in no other
  std::vector<Expr> canonical;   // the same
  std::vector<int> reduced;      // buffers that these read, each once
  // The latest of the steps that it reads, one further back, and how many such
  // steps lead to the first: merge-sweeps fills them.
  int latest = -1, jump = -1, way = 0;
};

SweepStep SweepStepOf(const Program& program, Step step);

// Of the first output; that of all outputs of a sweep.
const Shape& SweptShape(const Program& program, const Step& step);

// How a step reads a buffer.
struct Reading {
  bool any = false, identity = true, in_reduction = false;
};

Reading ReadingOf(const SweepStep& sweep, int buffer);

// Both reduce over equal ranges and read a common buffer there at equal
// indices; the second writes far less than is read in common.
bool ShareReduction(const Program& program, const SweepStep& first,
                    const SweepStep& second);

// Both read a common buffer at the indices that they write, outside of
// reductions.
bool ShareOperand(const SweepStep& a, const SweepStep& b);

}  // namespace mxc
