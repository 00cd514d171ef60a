// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/elementwise/np_truth.h"

#include "ir/ops/numpy/elementwise/np_arithmetic.h"
#include "ir/ops/tensor/elementwise/binary.h"

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

MXC_OP(NpiEqual) {
  return NpComparison("_npi_equal", "whether lhs equals rhs",
                      arithmetic::IsEqual);
}

MXC_OP(NpiEqualScalar) {
  return NpScalarComparison("_npi_equal_scalar", "whether data equals scalar",
                            arithmetic::IsEqual);
}

MXC_OP(NpiNotEqual) {
  return NpComparison("_npi_not_equal", "whether lhs differs from rhs",
                      arithmetic::IsNotEqual);
}

MXC_OP(NpiNotEqualScalar) {
  return NpScalarComparison("_npi_not_equal_scalar",
                            "whether data differs from scalar",
                            arithmetic::IsNotEqual);
}

MXC_OP(NpiGreater) {
  return NpComparison("_npi_greater", "whether lhs exceeds rhs",
                      arithmetic::IsGreater);
}

MXC_OP(NpiGreaterScalar) {
  return NpScalarComparison("_npi_greater_scalar",
                            "whether data exceeds scalar",
                            arithmetic::IsGreater);
}

MXC_OP(NpiGreaterEqual) {
  return NpComparison("_npi_greater_equal", "whether lhs is at least rhs",
                      arithmetic::IsGreaterEqual);
}

MXC_OP(NpiGreaterEqualScalar) {
  return NpScalarComparison("_npi_greater_equal_scalar",
                            "whether data is at least scalar",
                            arithmetic::IsGreaterEqual);
}

MXC_OP(NpiLess) {
  return NpComparison("_npi_less", "whether lhs is below rhs",
                      arithmetic::IsLesser);
}

MXC_OP(NpiLessScalar) {
  return NpScalarComparison("_npi_less_scalar", "whether data is below scalar",
                            arithmetic::IsLesser);
}

MXC_OP(NpiLessEqual) {
  return NpComparison("_npi_less_equal", "whether lhs is at most rhs",
                      arithmetic::IsLesserEqual);
}

MXC_OP(NpiLessEqualScalar) {
  return NpScalarComparison("_npi_less_equal_scalar",
                            "whether data is at most scalar",
                            arithmetic::IsLesserEqual);
}

MXC_OP(NpiLogicalNot) {
  return NpTest("_npi_logical_not", "whether x is 0",
                [](Expr x) { return x == Constant(0, x->dtype); });
}

MXC_OP(NpiIsnan) {
  return NpTest("_npi_isnan", "whether x is NaN",
                [](Expr x) { return np::IsNan(x); });
}

MXC_OP(NpiIsfinite) {
  return NpTest("_npi_isfinite", "whether x is a finite number", [](Expr x) {
    return Unary(UnaryOp::kNot, np::IsNan(x) || np::IsInfinite(x, true, true));
  });
}

MXC_OP(NpiIsinf) {
  return NpTest("_npi_isinf", "whether x is infinite",
                [](Expr x) { return np::IsInfinite(x, true, true); });
}

MXC_OP(NpiIsposinf) {
  return NpTest("_npi_isposinf", "whether x is +∞",
                [](Expr x) { return np::IsInfinite(x, true, false); });
}

MXC_OP(NpiIsneginf) {
  return NpTest("_npi_isneginf", "whether x is −∞",
                [](Expr x) { return np::IsInfinite(x, false, true); });
}

}  // namespace mxc
