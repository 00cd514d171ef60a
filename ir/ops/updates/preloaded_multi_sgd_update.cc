// SPDX-License-Identifier: Apache-2.0
// preloaded_multi_sgd_update: sgd_update of several weights, whose rates and
// decays are inputs; see multi_sgd.h.
//   lrs, wds  f32[…], behind the pairs
// C1  lrs and wds have one axis, with an element for each weight
// Source: MXNet 1.9.1 operator/contrib/preloaded_multi_sgd-inl.h.
#include "ir/ops/tensor/axes.h"
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {
namespace {

struct PreloadedMultiSgdAttrs : MultiSgdOptions {
  void Describe(Fields& f) { DescribeAll(f); }

  int rates() const { return static_cast<int>(2 * num_weights); }
  int decays() const { return rates() + 1; }
};

void PreloadedMultiSgdTypes(const PreloadedMultiSgdAttrs& a, TypeInference& t) {
  MultiSgdTypes(a, t);
  for (const int input : {a.rates(), a.decays()}) {
    t.SetInDType(input, DType::kF32);
    if (!t.In(input).known()) {
      t.SetIn(input, Shape{a.num_weights});
    }
    t.Require(t.In(input) == Shape{a.num_weights},
              "C1: input {} has shape {}, expected ({},)", input,
              ToString(t.In(input)), a.num_weights);
  }
}

}  // namespace

MXC_OP(PreloadedMultiSgdUpdate) {
  using Attrs = PreloadedMultiSgdAttrs;
  return Op<Attrs>("preloaded_multi_sgd_update")
      .Doc("sgd_update of several weights, by rates that are inputs")
      .InputsOf([](const Attrs& a) {
        std::vector<InputSpec> inputs = MultiSgdInputs(a);
        inputs.push_back({"lrs"});
        inputs.push_back({"wds"});
        return inputs;
      })
      .OutputsOf([](const Attrs& a) { return NumberedOutputs(a.num_weights); })
      .Types(PreloadedMultiSgdTypes)
      .FloatsOnly()
      .Meaning([](const Attrs& a, Definition& def) {
        for (int i = 0; i < static_cast<int>(a.num_weights); ++i) {
          const DType dtype = AccumulateType(def.OutDType(i));
          SetMultiSgd(a, i, Cast(def.In(a.rates(), {i}), dtype),
                      Cast(def.In(a.decays(), {i}), dtype), def);
        }
      });
}

}  // namespace mxc
