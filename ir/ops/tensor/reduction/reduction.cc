// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction/reduction.h"

#include <algorithm>

#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

Extents ReducedAxes(const ReductionAttrs& attrs, int rank) {
  if (!attrs.axis || attrs.axis->empty()) return AllAxes(rank);
  Extents named;
  for (const int64_t axis : *attrs.axis) {
    named.push_back(ResolveAxis(axis, rank).value_or(0));
  }
  std::ranges::sort(named);
  if (!attrs.exclude) return named;
  Extents others;
  std::ranges::set_difference(AllAxes(rank), named, std::back_inserter(others));
  return others;
}

void ReductionShape(const ReductionAttrs& attrs, TypeInference& t, int output) {
  const Shape& in = t.In(0);
  if (!in.known_rank()) return;
  if (attrs.axis && !RequireAxes(t, "C1", *attrs.axis, in.rank())) return;
  const Extents axes = ReducedAxes(attrs, in.rank());
  Extents dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) {
      dims.push_back(in[axis]);
    } else if (attrs.keepdims) {
      dims.push_back(1);
    }
  }
  if (dims.empty()) dims.push_back(1);
  t.SetOut(output, Shape(dims));
}

std::vector<Expr> ReducedIndex(const ReductionAttrs& attrs, int rank,
                               const std::vector<Expr>& r) {
  const Extents axes = ReducedAxes(attrs, rank);
  std::vector<Expr> index;
  size_t reduced = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (std::ranges::binary_search(axes, axis)) {
      index.push_back(r[reduced++]);
    } else {
      const int dropped = attrs.keepdims ? 0 : static_cast<int>(reduced);
      index.push_back(Var(axis - dropped));
    }
  }
  return index;
}

Expr ReduceInput(const ReductionAttrs& attrs, const Definition& def,
                 ReduceOp op, const std::function<Expr(Expr element)>& each) {
  const Shape& in = def.InShape(0);
  std::vector<Expr> begin, end;
  for (const int64_t axis : ReducedAxes(attrs, in.rank())) {
    begin.push_back(0);
    end.push_back(in[static_cast<int>(axis)]);
  }
  const DType dtype = def.InDType(0);
  const bool wide = op == ReduceOp::kSum && dtype == DType::kF32;
  const Expr reduced = Definition::ReduceOver(op, begin, end, [&](auto& r) {
    const Expr element = def.In(0, ReducedIndex(attrs, in.rank(), r));
    const Expr value = each(Cast(element, AccumulateType(dtype)));
    return wide ? Cast(value, DType::kF64) : value;
  });
  return wide ? Cast(reduced, DType::kF32) : reduced;
}

int64_t ReducedCount(const ReductionAttrs& attrs, const Shape& in) {
  int64_t count = 1;
  for (const int64_t axis : ReducedAxes(attrs, in.rank())) {
    count *= in[static_cast<int>(axis)];
  }
  return count;
}

Value KeepReduced(const ReductionAttrs& attrs, GradientBuilder& g,
                  Value value) {
  Extents dims = g.In(0).shape().dims();
  for (const int64_t axis : ReducedAxes(attrs, g.In(0).shape().rank())) {
    dims[axis] = 1;
  }
  return g.Reshape(g.Cast(value, g.In(0).type().dtype), dims);
}

std::vector<Value> SumGradient(const ReductionAttrs& attrs,
                               GradientBuilder& g) {
  return {g.BroadcastTo(KeepReduced(attrs, g, g.Head()), g.In(0).shape())};
}

std::vector<Value> MeanGradient(const ReductionAttrs& attrs,
                                GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  const Value share = g.Div(KeepReduced(attrs, g, g.Head()),
                            static_cast<double>(ReducedCount(attrs, in)));
  return {g.BroadcastTo(share, in)};
}

Value ProdGradient(const ReductionAttrs& attrs, GradientBuilder& g, Value x) {
  const Extents axes = ReducedAxes(attrs, x.shape().rank());
  const Value is_zero = g.Op<op::EqualScalar>({x}, {.scalar = 0});
  const Value divisor = g.Add(x, is_zero);
  const Value product =
      g.Op<op::Prod>({divisor}, {.axis = axes, .keepdims = true});
  const Value other_zeros = g.Sub(g.Sum(is_zero, axes, true), is_zero);
  const Value others =
      g.Where(other_zeros, g.Zeros(x.type()), g.Div(product, divisor));
  return g.Mul(others, KeepReduced(attrs, g, g.Head()));
}

std::vector<Value> ExtremumGradient(const ReductionAttrs& attrs,
                                    GradientBuilder& g) {
  const Value is_extremum =
      g.Op<op::BroadcastEqual>({g.In(0), KeepReduced(attrs, g, g.Out())});
  return {g.Mul(is_extremum, KeepReduced(attrs, g, g.Head()))};
}

Op<ReductionAttrs> ReductionOperator(std::string name, std::string doc,
                                     ReduceOp op, Expr (*each)(Expr x)) {
  Op<ReductionAttrs> reduction(std::move(name));
  reduction.Doc(std::move(doc));
  reduction.Types([](const ReductionAttrs& attrs, TypeInference& t) {
    t.AllSameDType();
    ReductionShape(attrs, t);
  });
  reduction.Meaning([op, each](const ReductionAttrs& attrs, Definition& def) {
    def.Set(0, ReduceInput(attrs, def, op, each));
  });
  return reduction;
}

}  // namespace mxc
