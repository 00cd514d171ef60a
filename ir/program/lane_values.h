// SPDX-License-Identifier: Apache-2.0
// The functions of kernel IR on many lanes at once. Functions of floats are
// computed in double.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/program/expr.h"

namespace mxc {

// One value for each lane; a single one stands for all lanes alike.
using LaneValues = std::vector<Element>;

inline Element At(const LaneValues& values, int lane) {
  return values.size() == 1 ? values[0] : values[lane];
}

template <class F>
LaneValues Apply(F f, const LaneValues& x) {
  LaneValues out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = f(x[i]);
  return out;
}
template <class F>
LaneValues Apply(F f, const LaneValues& a, const LaneValues& b) {
  LaneValues out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = f(At(a, static_cast<int>(i)), At(b, static_cast<int>(i)));
  }
  return out;
}

// `dtype` is the operands'.
LaneValues ApplyUnary(UnaryOp op, DType dtype, const LaneValues& x);
LaneValues ApplyBinary(BinaryOp op, DType dtype, const LaneValues& a,
                       const LaneValues& b);

}  // namespace mxc
