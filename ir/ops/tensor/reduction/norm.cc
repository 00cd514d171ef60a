// SPDX-License-Identifier: Apache-2.0
// norm: the sum of absolute values (ord 1), or the root of the sum of squares
// (ord 2), over axes.
// C1  axes are in range and distinct (reduction.h)
// C2  ord is 1 or 2
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {
namespace {

struct NormAttrs {
  int64_t ord = 2;
  std::optional<Extents> axis;
  std::optional<DType> out_dtype;
  bool keepdims = false;

  void Describe(Fields& f) {
    f("ord", ord).Doc("1 or 2");
    f("axis", axis).Doc("the axes to reduce; None and (): all");
    f("out_dtype", out_dtype).Doc("element type of the output; None: of data");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
  }

  ReductionAttrs reduction() const { return {axis, keepdims, false}; }
};

std::optional<std::string> CheckNorm(const NormAttrs& attrs) {
  if (attrs.ord == 1 || attrs.ord == 2) return std::nullopt;
  return fmt::format("C2: ord is {}, expected 1 or 2", attrs.ord);
}

void NormTypes(const NormAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.out_dtype.value_or(t.InDType(0)));
  if (!attrs.out_dtype) t.SetInDType(0, t.OutDType(0));
  ReductionShape(attrs.reduction(), t);
}

void NormMeaning(const NormAttrs& attrs, Definition& def) {
  const bool squares = attrs.ord == 2;
  const Expr sum =
      ReduceInput(attrs.reduction(), def, ReduceOp::kSum,
                  [&](Expr x) { return squares ? x * x : Abs(x); });
  def.Set(0, squares ? InFloat(sum, Sqrt) : sum);
}

// ord 1: the sign; ord 2: x / norm, NaN where that is 0, as in MXNet.
std::vector<Value> NormGradient(const NormAttrs& attrs, GradientBuilder& g) {
  const ReductionAttrs over = attrs.reduction();
  const Value head = KeepReduced(over, g, g.Head());
  if (attrs.ord == 1) return {g.Mul(g.Sign(g.In(0)), head)};
  return {g.Mul(g.In(0), g.Div(head, KeepReduced(over, g, g.Out())))};
}

}  // namespace

MXC_OP(Norm) {
  return Op<NormAttrs>("norm")
      .Doc("the 1-norm or the 2-norm over axes")
      .Check(CheckNorm)
      .Types(NormTypes)
      .Meaning(NormMeaning)
      .Gradient(NormGradient);
}

}  // namespace mxc
