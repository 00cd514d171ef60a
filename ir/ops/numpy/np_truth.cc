// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

#include "ir/ops/tensor/binary.h"

namespace mxc {

Op<> NpTest(std::string name, std::string doc, UnaryFunction test) {
  Op<> op(std::move(name));
  op.Doc(std::move(doc));
  op.Inputs({{"x", InputKind::kData}});
  op.Types([](const NoAttrs&, TypeInference& t) {
    t.AllSameShape();
    t.SetOutDType(0, DType::kBool);
  });
  op.Meaning([test](const NoAttrs&, Definition& def) {
    def.Set(0, test(def.In(0, def.Indices())));
  });
  op.ZeroGradient();
  return op;
}

Op<> NpComparison(std::string name, std::string doc, BinaryFunction condition) {
  Op<> op(std::move(name));
  op.Doc(std::move(doc));
  op.Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}});
  op.Types([](const NoAttrs&, TypeInference& t) {
    t.SetInDType(0, t.InDType(1));
    t.SetInDType(1, t.InDType(0));
    t.SetOutDType(0, DType::kBool);
    BroadcastShapes(t);
  });
  op.Meaning([condition](const NoAttrs&, Definition& def) {
    const std::vector<Expr> index = def.Indices();
    def.Set(0, condition(def.InBroadcast(0, index), def.InBroadcast(1, index)));
  });
  op.ZeroGradient();
  return op;
}

Op<ScalarAttrs> NpScalarComparison(std::string name, std::string doc,
                                   BinaryFunction condition) {
  Op<ScalarAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types([](const ScalarAttrs&, TypeInference& t) {
    t.AllSameShape();
    t.SetOutDType(0, DType::kBool);
  });
  op.Meaning([condition](const ScalarAttrs& attrs, Definition& def) {
    const DType given = def.InDType(0);
    const bool whole = attrs.is_int || IsFloat(given);
    const Expr x = Cast(def.In(0, def.Indices()), whole ? given : DType::kF64);
    def.Set(0, condition(x, Number(attrs.scalar, x->dtype)));
  });
  op.ZeroGradient();
  return op;
}

}  // namespace mxc
