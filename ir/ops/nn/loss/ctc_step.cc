// SPDX-License-Identifier: Apache-2.0
// _ctc_step: the log probability of all paths, one step further.
//   carried       f[N, S]     of the step before; backward: of the step after
//   emissions     f[T, N, S]  of _ctc_emissions
//   label         [N, L]
//   data_lengths  [N]         with use_data_lengths
//   output        f[N, S]     forward: of paths that are at symbol s after step
//                 `step`; backward: of paths from symbol s at that step on.
//                 Steps after the data's end change nothing.
// Attributes: CTCLoss's, and step, backward.
#include "ir/ops/nn/loss/ctc_step.h"
#include "ir/ops/nn/loss/ctc.h"

namespace mxc {
namespace {

std::vector<InputSpec> CtcStepInputs(const CtcStepAttrs& a) {
  if (!a.use_data_lengths) return {{"carried"}, {"emissions"}, {"label"}};
  return {{"carried"}, {"emissions"}, {"label"}, {"data_lengths"}};
}

void CtcStepTypes(const CtcStepAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetOutDType(0, t.InDType(0));
}

void CtcStepMeaning(const CtcStepAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const CtcLabels labels = {a, def, 2};
  const int64_t symbols = def.OutShape()[1];
  const Expr impossible = def.Lit(kCtcImpossible);
  // Forward, what came from `s`; backward, what goes on to it at step + 1.
  const int64_t emitting = a.backward ? a.step + 1 : a.step;
  const bool emits = emitting < def.InShape(1)[0];
  const auto emission = [&](const Expr& s) {
    return Cast(def.In(1, {Expr(emitting), i[0], s}), def.OutDType());
  };
  const auto carried = [&](int distance, const Expr& allowed) {
    const Expr s = a.backward ? i[1] + distance : i[1] - distance;
    Expr value = def.In(0, {i[0], s});
    if (a.backward && emits) value = value + emission(s);
    const Expr exists = a.backward ? s < symbols : s >= 0;
    return Select(allowed ? exists && allowed : exists, value, impossible);
  };
  const Expr skip =
      labels.MaySkipTo(i[0], a.backward ? Min(i[1] + 2, symbols - 1) : i[1]);
  Expr next = LogSumExp({carried(0, {}), carried(1, {}), carried(2, skip)});
  if (!a.backward) next = next + emission(i[1]);
  if (!emits) next = def.In(0, i);
  if (a.use_data_lengths) {
    const Expr length = Cast(def.In(3, {i[0]}), DType::kI64);
    next = Select(length > emitting, next, def.In(0, i));
  }
  def.Set(0, next);
}

}  // namespace

MXC_OP(CTCStep) {
  return Op<CtcStepAttrs>("_ctc_step")
      .Internal()
      .Doc("the log probability of all paths, one step further")
      .InputsOf(CtcStepInputs)
      .Types(CtcStepTypes)
      .Meaning(CtcStepMeaning);
}

}  // namespace mxc
