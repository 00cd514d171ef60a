// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/ops/nn/activation/softmax.h"

namespace mxc {

void SoftmaxAttrs::Describe(Fields& f) {
  f("axis", axis).Doc("that sums to 1; negative from the end");
  f("temperature", temperature).Doc("that data is divided by; None is 1");
  f("dtype", dtype).Doc("of the output; None is data's");
  f("use_length", use_length).Doc("whether there is an input length");
}

std::optional<std::string> SoftmaxCheck(const SoftmaxAttrs& a) {
  if (a.temperature.value_or(1) != 0) return std::nullopt;
  return "C3: temperature is 0";
}

std::vector<InputSpec> SoftmaxInputs(const SoftmaxAttrs& a) {
  if (!a.has_length()) return {{"data"}};
  return {{"data"}, {"length"}};
}

void SoftmaxTypes(const SoftmaxAttrs& a, TypeInference& t) {
  t.SetOut(0, t.In(0));
  if (t.error()) return;
  t.SetIn(0, t.Out(0));
  if (a.dtype) {
    t.SetOutDType(0, *a.dtype);
  } else {
    t.SetOutDType(0, t.InDType(0));
    t.SetInDType(0, t.OutDType(0));
  }
  if (a.has_length() && t.InDType(1) == DType::kUnknown) {
    t.SetInDType(1, DType::kI32);
  }
  if (!t.In(0).known_rank()) return;
  const Shape& data = t.In(0);
  const int axis = a.axis_of(data.rank());
  if (!t.Require(axis >= 0 && axis < data.rank(),
                 "C1: axis {} is not one of the {} of data", a.axis,
                 data.rank())) {
    return;
  }
  if (!a.has_length()) return;
  Extents others = data.dims();
  others.erase(others.begin() + axis);
  if (data.known() && t.In(1).known()) {
    t.Require(t.In(1) == Shape(others), "C2: length has shape {}, expected {}",
              ToString(t.In(1)), ToString(others));
  }
  t.SetIn(1, others);
}

Expr SoftmaxOver(const Definition& def, const Extents& axes) {
  const std::vector<Expr> i = def.Indices();
  std::vector<Expr> others;
  for (size_t axis = 0; axis < i.size(); ++axis) {
    if (std::ranges::count(axes, static_cast<int64_t>(axis)) == 0) {
      others.push_back(i[axis]);
    }
  }
  const Expr max =
      def.ReduceAxes(ReduceOp::kMax, 0, axes, others, [](Expr x) { return x; });
  const Expr sum = def.ReduceAxes(ReduceOp::kSum, 0, axes, others,
                                  [&](Expr x) { return Exp(x - max); });
  return Exp(def.In(0, i) - max) / sum;
}

namespace {

// Halves and integers are computed in f32.
DType ComputedIn(DType dtype) {
  return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

}  // namespace

SoftmaxTerms SoftmaxTermsOf(const SoftmaxAttrs& a, const Definition& def,
                            bool negative) {
  const DType type = ComputedIn(def.OutDType());
  const std::vector<Expr> i = def.Indices();
  const int axis = a.axis_of(static_cast<int>(i.size()));
  const double factor = (negative ? -1 : 1) / a.temperature.value_or(1);
  const auto logit = [&](Expr position) {
    std::vector<Expr> index = i;
    index[axis] = position;
    const Expr x = Cast(def.In(0, index), type);
    return factor == 1 ? x : x * Constant(factor, type);
  };
  SoftmaxTerms terms;
  Expr end = def.InShape(0)[axis];
  if (a.has_length()) {
    std::vector<Expr> others = i;
    others.erase(others.begin() + axis);
    end = Max(Min(Cast(def.In(1, others), DType::kI64), end), 0);
    terms.counts = i[axis] < end;
  }
  terms.logit = logit(i[axis]);
  terms.max = Definition::ReduceOver(
      ReduceOp::kMax, {0}, {end},
      [&](const std::vector<Expr>& r) { return logit(r[0]); });
  terms.sum = Definition::ReduceOver(
      ReduceOp::kSum, {0}, {end},
      [&](const std::vector<Expr>& r) { return Exp(logit(r[0]) - terms.max); });
  return terms;
}

Value SoftmaxGradient(GraphBuilder& b, Value dy, Value y, const Extents& axes) {
  return b.Mul(y, b.Sub(dy, b.Sum(b.Mul(dy, y), axes, true)));
}

std::vector<Value> SoftmaxFamilyGradient(const SoftmaxAttrs& a,
                                         GradientBuilder& g, bool negative) {
  const int axis = a.axis_of(g.In(0).shape().rank());
  const double factor = (negative ? -1 : 1) / a.temperature.value_or(1);
  Value gradient = SoftmaxGradient(g, g.Head(), g.Out(), {axis});
  if (factor != 1) gradient = g.Mul(gradient, factor);
  std::vector<Value> gradients = g.None();
  gradients[0] = g.Cast(gradient, g.In(0).type().dtype);
  return gradients;
}

}  // namespace mxc
