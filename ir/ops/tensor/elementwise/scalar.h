// SPDX-License-Identifier: Apache-2.0
// Operators of a tensor and a number: f(data, scalar). The number is converted
// to the element type of the data first, so integers stay integers; a file with
// is_int = False asks for f64 of integers instead, as NumPy gives it. Their
// gradient is that of the function; a file whose operator differs says so.
#pragma once

#include <string>

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {

struct ScalarAttrs {
  double scalar = 1;
  bool is_int = true;  // mx.np says it; mx.sym leaves it out, whatever `scalar`

  void Describe(Fields& f) {
    f("scalar", scalar).Doc("the number");
    f("is_int", is_int).Doc("False: of integers the result is float64");
  }
};
MXC_ATTRS(LesserEqualScalar, ScalarAttrs);
MXC_ATTRS(EqualScalar, ScalarAttrs);
MXC_ATTRS(GreaterEqualScalar, ScalarAttrs);
MXC_ATTRS(GreaterScalar, ScalarAttrs);
MXC_ATTRS(LesserScalar, ScalarAttrs);
MXC_ATTRS(MaximumScalar, ScalarAttrs);
MXC_ATTRS(MinimumScalar, ScalarAttrs);
MXC_ATTRS(MulScalar, ScalarAttrs);
MXC_ATTRS(NotEqualScalar, ScalarAttrs);
MXC_ATTRS(NpiEqualScalar, ScalarAttrs);
MXC_ATTRS(NpiGreaterEqualScalar, ScalarAttrs);
MXC_ATTRS(NpiLessScalar, ScalarAttrs);
MXC_ATTRS(PlusScalar, ScalarAttrs);
MXC_ATTRS(PowerScalar, ScalarAttrs);
MXC_ATTRS(DivScalar, ScalarAttrs);
MXC_ATTRS(ModScalar, ScalarAttrs);
MXC_ATTRS(RminusScalar, ScalarAttrs);
MXC_ATTRS(RpowerScalar, ScalarAttrs);
MXC_ATTRS(MinusScalar, ScalarAttrs);
MXC_ATTRS(RdivScalar, ScalarAttrs);
MXC_ATTRS(NpiGreaterScalar, ScalarAttrs);

// Which operand of f the number is.
enum class ScalarSide { kRight, kLeft };

Op<ScalarAttrs> ScalarOperator(std::string name, std::string doc,
                               BinaryFunction f,
                               ScalarSide side = ScalarSide::kRight);

}  // namespace mxc
