// SPDX-License-Identifier: Apache-2.0
// _npi_norm: numpy.linalg.norm, over `axis`. flag says which, as mx.np has it:
//   -2, 1  √Σ x², of all elements of a vector or a matrix
//   -1     of vectors: (Σ |x|^ord)^(1/ord); of ord 0 the number of x ≠ 0
// The other outputs are those that only norms of singular values have.
// C1  axes are in range and distinct
// C2  flag is none of 0 and 2, the norms of singular values
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {
namespace {

struct NpiNormAttrs {
  double ord = 2;
  std::optional<Extents> axis;
  bool keepdims = false;
  int64_t flag = -2;

  void Describe(Fields& f) {
    f("ord", ord).Doc("order of the norm");
    f("axis", axis).Doc("the axes of a vector or a matrix; None: all");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
    f("flag", flag).Range(-2, 4).Doc("which norm");
  }
  ReductionAttrs reduction() const { return {axis, keepdims, false}; }
};

std::optional<std::string> CheckNpiNorm(const NpiNormAttrs& attrs) {
  if (attrs.flag < 0 || attrs.flag == 1) return std::nullopt;
  return fmt::format(
      "C2: flag {} asks for a norm of singular values, which is not supported",
      attrs.flag);
}

void NpiNormTypes(const NpiNormAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  NpReductionShape(attrs.reduction(), t);
}

std::vector<Value> NpiNormParts(const NpiNormAttrs& attrs, const Node& node,
                                GraphBuilder& b) {
  const Value x = node.inputs[0];
  const Extents axes = ReducedAxes(attrs.reduction(), x.shape().rank());
  const auto sum = [&](Value of) {
    const Value total = axes.empty() ? of : b.Sum(of, axes);
    return b.Reshape(total, node.types[0].shape);
  };
  const auto power = [&](Value of, double exponent) {
    return b.Op<op::PowerScalar>({of}, {.scalar = exponent});
  };
  if (attrs.flag != -1 || attrs.ord == 2) return {b.Sqrt(sum(b.Square(x)))};
  if (attrs.ord == 1) return {sum(b.Abs(x))};
  if (attrs.ord == 0) {
    return {sum(b.Op<op::NotEqualScalar>({x}, {.scalar = 0}))};
  }
  return {power(sum(power(b.Abs(x), attrs.ord)), 1 / attrs.ord)};
}

}  // namespace

MXC_OP(NpiNorm) {
  return Op<NpiNormAttrs>("_npi_norm")
      .Doc("numpy.linalg.norm")
      .Check(CheckNpiNorm)
      .Types(NpiNormTypes)
      .FloatsOnly()
      .Decompose(NpiNormParts);
}

}  // namespace mxc
