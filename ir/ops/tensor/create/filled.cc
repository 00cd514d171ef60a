// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/create/filled.h"

namespace mxc {

Shape StatedShape(const Extents& shape) {
  if (shape.empty()) return {};
  Extents dims = shape;
  for (int64_t& extent : dims) {
    if (extent == 0) extent = Shape::kUnknownDim;
  }
  return Shape(std::move(dims));
}

Op<FilledAttrs> FilledOperator(std::string name, std::string doc,
                               double value) {
  Op<FilledAttrs> op(std::move(name));
  op.Doc(std::move(doc)).Inputs({});
  op.Types([](const FilledAttrs& attrs, TypeInference& t) {
    t.SetOutDType(0, attrs.dtype);
    t.SetOut(0, StatedShape(attrs.shape));
  });
  op.Meaning([value](const FilledAttrs&, Definition& def) {
    def.Set(0, def.Lit(value));
  });
  return op;
}

MXC_OP(Zeros) {
  return FilledOperator("_zeros", "zeros", 0).Alias({"_npi_zeros"});
}

MXC_OP(Ones) { return FilledOperator("_ones", "ones", 1).Alias({"_npi_ones"}); }

}  // namespace mxc
