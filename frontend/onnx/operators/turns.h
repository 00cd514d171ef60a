// SPDX-License-Identifier: Apache-2.0
// The turns of Loop and Scan, which are written out, or become a scan.
#pragma once

#include <vector>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

bool IsTrueNow(Call& c, const Tensor& condition);
// What turns put out, one after the other along a new first axis.
Operand Rows(Call& c, std::vector<Operand>& rows);

// Turns of a body that takes [iteration, condition,] states, slices and gives
// [condition,] states, rows.
struct Turns {
  const GraphProto& body;
  int64_t most = 0;
  bool conditional = false;  // whether iteration and condition are there
  bool may_end = true;       // whether the body's condition can end it
  Value first =
      {};  // the condition before the first turn, where it is not known
  std::vector<Operand> states = {};
  std::vector<Value> slices = {};  // stacked along axis 0
  size_t rows = 0;
  std::vector<bool> wanted = {};  // of the rows
};

struct Ends {
  std::vector<Operand> states, rows;
};

// What they leave behind.
Ends EndsOfTurns(Call& c, Turns turns);
// States, then rows, as the outputs of the node.
void GiveEnds(Call& c, Ends& ends);

}  // namespace mxc::onnx
