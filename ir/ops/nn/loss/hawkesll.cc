// SPDX-License-Identifier: Apache-2.0
// _contrib_hawkesll: the log likelihood of points, by a Hawkes process whose marks
// excite themselves, and the excitement at the end.
//   inputs   see hawkesll.h
//   output0  f[N] = Σ log λ − ∫ λ, λ = μ + α·β·excitement
//   output1  f[N, K]: of each mark; a point adds 1, and it decays by e^(−β·time)
// Gradients reach lda, alpha and beta, from output0 alone.
// C1: see hawkesll.h
#include "ir/ops/nn/loss/hawkesll.h"

#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void HawkesllTypes(const NoAttrs&, TypeInference& t) {
  HawkesInputTypes(t, 0);
  if (t.In(0).known_rank() && t.In(0).rank() == 2) {
    t.SetOut(0, Shape{t.In(0)[0]});
  }
  t.SetOut(1, t.In(0));
  for (const int output : {0, 1}) t.SetOutDType(output, t.InDType(0));
}

void HawkesllProcedure(const NoAttrs&, ProcedureBuilder& p) {
  HawkesWalk walk(p, 0);
  const ProcedureArray excited =
      walk.PerMark([&](const Expr& mark) { return walk.Start(mark); });
  const Expr likelihood = p.Let(walk.Zero());
  // ∫ λ of a mark since its last point.
  const auto integral = [&](const HawkesWalk::Point& point,
                            const Expr& excitement) {
    return walk.Rate(point.mark) * point.distance +
           walk.Alpha(point.mark) * excitement * (walk.One() - point.left);
  };
  walk.Points([&](const HawkesWalk::Point& point) {
    const Expr now = p.Let(excited(point.mark));
    p.Set(likelihood,
          likelihood + Log(walk.Intensity(point, now)) - integral(point, now));
    p.Set(excited(point.mark), walk.One() + now * point.left);
  });
  walk.Ends([&](const HawkesWalk::Point& point) {
    const Expr now = p.Let(excited(point.mark));
    p.Set(likelihood, likelihood - integral(point, now));
    p.Set(p.Out(1)(walk.sequence(), point.mark), point.left * now);
  });
  p.Set(p.Out(0)(walk.sequence()), likelihood);
}

std::vector<Value> HawkesllGradient(const NoAttrs&, GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  if (!g.HasHead(0)) return gradients;
  std::vector<Value> inputs = {g.Head(0)};
  for (int i = 0; i < g.inputs(); ++i) inputs.push_back(g.In(i));
  const std::vector<Value> parts = g.Ops<op::HawkesllGradient>(inputs);
  gradients[0] = parts[0];
  gradients[1] = g.Sum(parts[1], {0});
  gradients[2] = g.Sum(parts[2], {0});
  return gradients;
}

}  // namespace

void HawkesInputTypes(TypeInference& t, int first) {
  for (int i = 0; i < 8; ++i) {
    const bool marks = i == 5;
    t.SetInDType(first + i, marks ? DType::kI32 : t.InDType(first));
    if (!marks) t.SetInDType(first, t.InDType(first + i));
  }
  const Shape &rates = t.In(first), &lags = t.In(first + 4);
  if (!rates.known() || !lags.known()) return;
  if (!t.Require(rates.rank() == 2 && lags.rank() == 2 && lags[0] == rates[0],
                 "C1: lda has shape {} and lags {}", ToString(rates),
                 ToString(lags))) {
    return;
  }
  const Shape by_mark{rates[1]}, by_sequence{rates[0]};
  t.SetIn(first + 1, by_mark);
  t.SetIn(first + 2, by_mark);
  t.SetIn(first + 3, rates);
  t.SetIn(first + 5, lags);
  t.SetIn(first + 6, by_sequence);
  t.SetIn(first + 7, by_sequence);
}

HawkesWalk::HawkesWalk(ProcedureBuilder& p, int first)
    : p_(p),
      first_(first),
      marks_(p.InShape(first)[1]),
      points_(p.InShape(first + 4)[1]),
      dtype_(AccumulateType(p.InDType(first))),
      sequence_(p.Tasks(p.InShape(first)[0])),
      last_(PerMark([&](const Expr&) { return Zero(); })) {}

ProcedureArray HawkesWalk::PerMark(
    const std::function<Expr(const Expr& mark)>& initial) {
  const ProcedureArray array = p_.Array(dtype_, {marks_});
  p_.For(0, marks_,
         [&](const Expr& mark) { p_.Set(array(mark), initial(mark)); });
  return array;
}

HawkesWalk::Point HawkesWalk::PointAt(const Expr& mark, const Expr& time) {
  const Expr distance = p_.Let(time - last_(mark));
  return {mark, distance, p_.Let(Exp(-Beta(mark) * distance))};
}

void HawkesWalk::Points(const std::function<void(const Point&)>& visit) {
  const Expr time = p_.Let(Zero());
  const Expr length = p_.Let(At(6, {sequence_}));
  p_.For(0, points_, [&](const Expr& j) {
    p_.If(Cast(j, dtype_) >= length, [&] { p_.Break(); });
    const Expr stated = Cast(p_.In(first_ + 5)(sequence_, j), DType::kI64);
    const Expr mark = p_.Let(Max(Min(stated, Expr(marks_ - 1)), Expr(0)));
    p_.Set(time, time + At(4, {sequence_, j}));
    visit(PointAt(mark, time));
    p_.Set(last_(mark), time);
  });
}

void HawkesWalk::Ends(const std::function<void(const Point&)>& visit) {
  const Expr end = p_.Let(At(7, {sequence_}));
  p_.For(0, marks_, [&](const Expr& mark) { visit(PointAt(mark, end)); });
}

MXC_OP(Hawkesll) {
  std::vector<InputSpec> inputs;
  for (const char* name : kHawkesInputs) inputs.push_back({name});
  return Op<>("_contrib_hawkesll")
      .Doc("the log likelihood of points by a Hawkes process")
      .Inputs(inputs)
      .Outputs({"output0", "output1"})
      .Types(HawkesllTypes)
      .FloatsOnly()
      .Procedure(HawkesllProcedure)
      .Gradient(HawkesllGradient);
}

}  // namespace mxc
