// SPDX-License-Identifier: Apache-2.0
// lamb_update_phase2: the step of lamb, scaled and taken.
//   weight    f[S…]
//   g         f[S…], the output of phase 1
//   r1, r2    f[1, …]: the norms of the weight and of g
//   weight32  f32[S…], a state: the weight, where it has a copy in f32; then all
//             but the weight are f32
//   output    f[S…] = w − lr·r·g, r TrustRatio of formulas.h
//   next_weight32  f32[S…]: as it was; MXNet does not write this state
// C1  r1 and r2 have one element
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, LambUpdatePhaseTwoKernel.
#include "ir/ops/updates/lamb_phase_two.h"

namespace mxc {
namespace {

constexpr int kLambCopy = 4;

void LambPhaseTwoTypes(bool mixed, TypeInference& t) {
  const int last = mixed ? kLambCopy : 1;
  for (const int i : {1, last}) {
    t.SetIn(0, t.In(i));
    t.SetIn(0, t.Out(0));
    t.SetIn(i, t.In(0));
  }
  t.SetOut(0, t.In(0));
  t.SetInDType(0, t.OutDType(0));
  for (int i = 1; i < t.inputs(); ++i) {
    t.SetInDType(i, mixed ? DType::kF32 : t.InDType(0));
    if (!mixed) t.SetInDType(0, t.InDType(i));
  }
  t.SetOutDType(0, t.InDType(0));
  if (mixed) {
    t.SetOut(1, t.In(0));
    t.SetOutDType(1, DType::kF32);
  }
  for (const int i : {2, 3}) {
    t.Require(!t.In(i).known() || t.In(i).elements() == 1,
              "C1: r{} has shape {}, expected one element", i - 1,
              ToString(t.In(i)));
  }
}

void LambPhaseTwo(const LambPhaseTwoAttrs& a, bool mixed, Definition& def) {
  const DType dtype =
      !mixed && def.InDType(0) == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto at = [&](int input) {
    return Cast(def.In(input, def.Indices()), dtype);
  };
  const auto norm = [&](int input) {
    const std::vector<Expr> first(def.InShape(input).rank(), Expr(0));
    return Cast(def.In(input, first), dtype);
  };
  const auto bound = [](double limit) {
    return limit < 0 ? std::nullopt : std::optional(limit);
  };
  const Expr ratio =
      TrustRatio(norm(2), norm(3), bound(a.lower_bound), bound(a.upper_bound));
  const Expr w = at(mixed ? kLambCopy : 0);
  const Expr next = w - Lit(a.lr, w) * ratio * at(1);
  def.Set(0, next);
  if (mixed) def.Set(1, at(kLambCopy));
}

}  // namespace

Op<LambPhaseTwoAttrs> LambPhaseTwoOperator(std::string name, bool mixed) {
  std::vector<InputSpec> inputs = {{"weight"}, {"g"}, {"r1"}, {"r2"}};
  std::vector<std::string> outputs = {"output"};
  if (mixed) {
    inputs.push_back({"weight32", InputKind::kState});
    outputs.push_back("next_weight32");
  }
  return Op<LambPhaseTwoAttrs>(std::move(name))
      .Inputs(inputs)
      .Outputs(outputs, 1)
      .NextStates(mixed ? 1 : 0)
      .Types([mixed](const auto&, TypeInference& t) {
        LambPhaseTwoTypes(mixed, t);
      })
      .FloatsOnly()
      .Meaning([mixed](const LambPhaseTwoAttrs& a, Definition& def) {
        LambPhaseTwo(a, mixed, def);
      });
}

MXC_OP(LambUpdatePhase2) {
  return LambPhaseTwoOperator("lamb_update_phase2", false)
      .Doc("the step of lamb, scaled and taken");
}

MXC_OP(MpLambUpdatePhase2) {
  return LambPhaseTwoOperator("mp_lamb_update_phase2", true)
      .Doc("lamb_update_phase2 of a weight with a copy in f32");
}

}  // namespace mxc
