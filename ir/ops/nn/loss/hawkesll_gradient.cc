// SPDX-License-Identifier: Apache-2.0
// _hawkesll_gradient: the gradients of _contrib_hawkesll; our own operator.
//   head     f[N]: that of output0
//   inputs   see hawkesll.h
//   outputs  f[N, K], of lda, alpha and beta, the latter for each sequence
#include "ir/ops/nn/loss/hawkesll.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void HawkesllGradientTypes(const NoAttrs&, TypeInference& t) {
  HawkesInputTypes(t, 1);
  t.SetInDType(0, t.InDType(1));
  for (int output = 0; output < 3; ++output) {
    t.SetOut(output, t.In(1));
    t.SetOutDType(output, t.InDType(1));
  }
}

void HawkesllGradientProcedure(const NoAttrs&, ProcedureBuilder& p) {
  HawkesWalk walk(p, 1);
  const auto zero = [&](const Expr&) { return walk.Zero(); };
  const ProcedureArray excited =
      walk.PerMark([&](const Expr& mark) { return walk.Start(mark); });
  // The slope of that by β; the sums of each gradient.
  const ProcedureArray slope = walk.PerMark(zero), rate = walk.PerMark(zero),
                       alpha = walk.PerMark(zero), beta = walk.PerMark(zero);
  const Expr one = walk.One();
  const auto add = [&](const ProcedureArray& to, const Expr& mark,
                       const Expr& what) { p.Set(to(mark), to(mark) + what); };
  const auto integral = [&](const HawkesWalk::Point& point) {
    const auto& [mark, distance, left] = point;
    add(rate, mark, -distance);
    add(alpha, mark, -(excited(mark) * (one - left)));
    add(beta, mark,
        -(walk.Alpha(mark) *
          (slope(mark) * (one - left) + excited(mark) * distance * left)));
  };
  walk.Points([&](const HawkesWalk::Point& point) {
    const auto& [mark, distance, left] = point;
    const Expr intensity = p.Let(walk.Intensity(point, excited(mark)));
    const Expr b = p.Let(walk.Beta(mark));
    add(rate, mark, one / intensity);
    add(alpha, mark, b * excited(mark) * left / intensity);
    add(beta, mark,
        walk.Alpha(mark) * left *
            (excited(mark) * (one - b * distance) + b * slope(mark)) /
            intensity);
    integral(point);
    p.Set(slope(mark), left * (slope(mark) - distance * excited(mark)));
    p.Set(excited(mark), one + excited(mark) * left);
  });
  walk.Ends(integral);
  const Expr head = p.Let(Cast(p.In(0)(walk.sequence()), walk.dtype()));
  p.For(0, walk.marks(), [&](const Expr& mark) {
    const ProcedureArray* sums[] = {&rate, &alpha, &beta};
    for (int output = 0; output < 3; ++output) {
      p.Set(p.Out(output)(walk.sequence(), mark), head * (*sums[output])(mark));
    }
  });
}

}  // namespace

MXC_OP(HawkesllGradient) {
  std::vector<InputSpec> inputs = {{"head"}};
  for (const char* name : kHawkesInputs) inputs.push_back({name});
  return Op<>("_hawkesll_gradient")
      .Doc("the gradients of _contrib_hawkesll")
      .Inputs(inputs)
      .Outputs({"lda", "alpha", "beta"})
      .Types(HawkesllGradientTypes)
      .Procedure(HawkesllGradientProcedure)
      .Internal();
}

}  // namespace mxc
