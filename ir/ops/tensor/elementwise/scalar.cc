// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/scalar.h"

#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

// Data of integers and a number that is none give f64, as NumPy has it.
void ScalarTypes(const ScalarAttrs& attrs, TypeInference& t) {
  const DType given = t.InDType(0);
  if (attrs.is_int || IsFloat(given)) return SameTypes(t);
  t.AllSameShape();
  if (given != DType::kUnknown) t.SetOutDType(0, DType::kF64);
}

}  // namespace

Op<ScalarAttrs> ScalarOperator(std::string name, std::string doc,
                               BinaryFunction f, ScalarSide side) {
  Op<ScalarAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types(ScalarTypes);
  op.Meaning([f, side](const ScalarAttrs& attrs, Definition& def) {
    const Expr x = Cast(def.In(0, def.Indices()), def.OutDType());
    const Expr number = Number(attrs.scalar, x->dtype);
    def.Set(0, side == ScalarSide::kRight ? f(x, number) : f(number, x));
  });
  op.ElementwiseGradient();
  return op;
}

}  // namespace mxc
