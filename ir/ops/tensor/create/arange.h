// SPDX-License-Identifier: Apache-2.0
// States the attributes of _arange.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ArangeAttrs {
  double start = 0;
  std::optional<double> stop = {};
  double step = 1;
  int64_t repeat = 1;
  bool infer_range = false;
  std::string ctx = {};
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("start", start).Required().Doc("first number, or the end if alone");
    f("stop", stop).Doc("the numbers stay before it");
    f("step", step).Doc("difference of two numbers");
    f("repeat", repeat).Min(1).Doc("how often each number stands");
    f("infer_range", infer_range).Doc("the length follows from the readers");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
  }

  bool counts_from_zero() const { return !stop && !infer_range; }
  double first() const { return counts_from_zero() ? 0 : start; }
};
MXC_ATTRS(Arange, ArangeAttrs);

}  // namespace mxc
