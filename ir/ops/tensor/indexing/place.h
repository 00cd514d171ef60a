// SPDX-License-Identifier: Apache-2.0
// The gradient of slices: the head, laid into zeros.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct PlaceAttrs {
  Extents shape = {}, begin = {}, step = {};

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(1).Doc("shape of the output");
    f("begin", begin).Required().Doc("where the first element stands");
    f("step", step).Required().Doc("from one element to the next");
  }
};
MXC_ATTRS(Place, PlaceAttrs);

// Zeros of `shape` in which element k of `value` stands at begin + k · step,
// for every axis.
Value PlaceInZeros(GradientBuilder& g, Value value, const Shape& shape,
                   const Extents& begin, const Extents& step);

}  // namespace mxc
