// SPDX-License-Identifier: Apache-2.0
// Which outputs of a step may be written over one of its inputs.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

struct SharePair {
  int input, output;  // buffers
  // The output is the input's elements in the same order: always legal while
  // neither is written again. Otherwise the input must not be needed later.
  bool view;
};

// The legal pairs of a step, whatever is alive when it runs; of those with one
// input, or with one output, one may be chosen:
//   views of row-major buffers, and
//   outputs of which element i is computed from element i of the input, of the
//   same layout and element size.
std::vector<SharePair> SharePairs(const Program& program, const Step& step);

// Returns whether the step may write its output over `input`, a buffer of the
// same layout: it does not read it, or element i only to compute element i.
bool MayWriteOver(const Program& program, const Step& step, int input);

}  // namespace mxc
