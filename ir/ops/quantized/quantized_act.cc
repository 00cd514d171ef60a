// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_act: max(q, 0) of 8-bit numbers.
//   data q[…], min_data f32[1], max_data f32[1]
//   outputs  q[…], and the same range
// C1  data are i8 or u8
// C2  act_type is relu
// Source: MXNet 1.9.1 operator/quantization/quantized_activation.cc.
#include "ir/ops/quantized/quantization.h"

namespace mxc {
namespace {

struct QuantizedActAttrs {
  std::string act_type;

  void Describe(Fields& f) {
    f("act_type", act_type)
        .Required()
        .OneOf({"relu", "sigmoid", "softrelu", "softsign", "tanh"})
        .Doc("the function");
  }
};

}  // namespace

MXC_OP(QuantizedAct) {
  return Op<QuantizedActAttrs>("_contrib_quantized_act")
      .Doc("relu of 8-bit numbers")
      .Inputs(RangedInputs())
      .Outputs(kRangedOutputs)
      .Check([](const QuantizedActAttrs& a) -> std::optional<std::string> {
        if (a.act_type == "relu") return std::nullopt;
        return fmt::format("C2: act_type is {}, expected relu", a.act_type);
      })
      .Types([](const QuantizedActAttrs&, TypeInference& t) {
        t.SetOut(0, t.In(0));
        t.SetIn(0, t.Out(0));
        SetRangeTypes(t, 1, 1);
        if (RequireQuantized(t, 0)) t.SetOutDType(0, t.InDType(0));
      })
      .Decompose([](const QuantizedActAttrs&, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value relu =
            b.Op<op::Relu>({b.Cast(node.inputs[0], DType::kF32)});
        return WithRangeOf(node, b.Cast(relu, node.types[0].dtype));
      })
      .ZeroGradient();
}

}  // namespace mxc
