// SPDX-License-Identifier: Apache-2.0
// multi_sgd_update: sgd_update of several weights; see multi_sgd.h.
// C1  lrs and wds have a number for each weight
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, MultiSGDKernel.
#include "ir/ops/tensor/axes.h"
#include "ir/ops/updates/formulas.h"
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {
namespace {

struct MultiSgdUpdateAttrs : MultiSgdOptions {
  std::vector<double> lrs, wds;

  void Describe(Fields& f) {
    f("lrs", lrs).Required().Doc("learning rate of each weight");
    f("wds", wds).Required().Doc("weight decay of each weight");
    DescribeAll(f);
  }
};

std::optional<std::string> CheckMultiSgd(const MultiSgdUpdateAttrs& a) {
  const int64_t rates = std::ssize(a.lrs), decays = std::ssize(a.wds);
  if (rates == a.num_weights && decays == a.num_weights) return std::nullopt;
  return fmt::format("C1: {} lrs and {} wds for {} weights", rates, decays,
                     a.num_weights);
}

}  // namespace

void MultiSgdOptions::DescribeAll(Fields& f) {
  f("rescale_grad", rescale_grad).Doc("multiplies the gradients");
  f("clip_gradient", clip_gradient)
      .Doc("limits them to ±this; no limit if below 0");
  f("num_weights", num_weights)
      .Range(1, static_cast<double>(kMaxOperands) / 2)
      .Doc("how many weights");
}

std::vector<InputSpec> MultiSgdInputs(const MultiSgdOptions& a) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < a.num_weights; ++i) {
    inputs.push_back({fmt::format("weight_{}", i)});
    inputs.push_back({fmt::format("grad_{}", i)});
  }
  return inputs;
}

void MultiSgdTypes(const MultiSgdOptions& a, TypeInference& t) {
  for (int i = 0; i < static_cast<int>(a.num_weights); ++i) {
    const int weight = 2 * i, gradient = 2 * i + 1;
    t.SetOut(i, t.In(weight));
    t.SetOut(i, t.In(gradient));
    t.SetOutDType(i, t.InDType(weight));
    t.SetOutDType(i, t.InDType(gradient));
    for (const int input : {weight, gradient}) {
      t.SetIn(input, t.Out(i));
      t.SetInDType(input, t.OutDType(i));
    }
  }
}

void SetMultiSgd(const MultiSgdOptions& a, int i, const Expr& rate,
                 const Expr& decay, Definition& def) {
  const auto at = [&](int input) {
    return Cast(def.In(input, def.Indices(i)), rate->dtype);
  };
  const Expr w = at(2 * i);
  Expr g = Lit(a.rescale_grad, w) * at(2 * i + 1);
  if (a.clip_gradient >= 0) g = ClippedTo(g, Lit(a.clip_gradient, w));
  def.Set(i, w - SgdStep({w, g, rate, decay}));
}

MXC_OP(MultiSgdUpdate) {
  using Attrs = MultiSgdUpdateAttrs;
  return Op<Attrs>("multi_sgd_update")
      .Doc("sgd_update of several weights")
      .InputsOf([](const Attrs& a) { return MultiSgdInputs(a); })
      .OutputsOf([](const Attrs& a) { return NumberedOutputs(a.num_weights); })
      .Check(CheckMultiSgd)
      .Types([](const Attrs& a, TypeInference& t) { MultiSgdTypes(a, t); })
      .FloatsOnly()
      .Meaning([](const Attrs& a, Definition& def) {
        for (int i = 0; i < static_cast<int>(a.num_weights); ++i) {
          const DType dtype = AccumulateType(def.OutDType(i));
          const auto k = static_cast<size_t>(i);
          SetMultiSgd(a, i, Constant(a.lrs[k], dtype),
                      Constant(a.wds[k], dtype), def);
        }
      });
}

}  // namespace mxc
