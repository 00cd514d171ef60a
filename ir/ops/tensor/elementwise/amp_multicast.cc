// SPDX-License-Identifier: Apache-2.0
// amp_multicast: all inputs in one float type, the widest among them, or the
// narrowest with cast_narrow. Output k has the shape of input k.
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct AmpMulticastAttrs {
  int64_t num_outputs = 1;
  bool cast_narrow = false;

  void Describe(Fields& f) {
    f("num_outputs", num_outputs)
        .Required()
        .Range(1, kMaxOperands)
        .Doc("the number of inputs, and of outputs");
    f("cast_narrow", cast_narrow).Doc("use the narrowest type");
  }
};

void AmpMulticastTypes(const AmpMulticastAttrs& attrs, TypeInference& t) {
  DType common = DType::kUnknown;
  bool complete = true;
  for (int i = 0; i < t.inputs(); ++i) {
    t.SetOut(i, t.In(i));
    t.SetIn(i, t.Out(i));
    const DType dtype = t.InDType(i);
    complete = complete && dtype != DType::kUnknown;
    if (!IsFloat(dtype)) continue;
    const bool better = common == DType::kUnknown ||
                        (attrs.cast_narrow ? SizeOf(dtype) < SizeOf(common)
                                           : SizeOf(dtype) > SizeOf(common));
    if (better) common = dtype;
  }
  if (!complete) return;
  for (int i = 0; i < t.inputs(); ++i) {
    t.SetOutDType(i, IsFloat(t.InDType(i)) ? common : t.InDType(i));
  }
}

}  // namespace

MXC_OP(AmpMulticast) {
  return Op<AmpMulticastAttrs>("amp_multicast")
      .Doc("all inputs in one float type")
      .InputsOf([](const AmpMulticastAttrs& a) {
        return NumberedInputs("data_", a.num_outputs);
      })
      .OutputsOf([](const AmpMulticastAttrs& a) {
        return NumberedOutputs(a.num_outputs);
      })
      .Types(AmpMulticastTypes)
      .Meaning([](const AmpMulticastAttrs&, Definition& def) {
        for (int i = 0; i < def.inputs(); ++i) {
          def.Set(i, def.In(i, def.Indices(i)));
        }
      })
      .Gradient([](const AmpMulticastAttrs&, GradientBuilder& g) {
        std::vector<Value> gradients = g.None();
        for (int i = 0; i < g.inputs(); ++i) {
          if (g.HasHead(i))
            gradients[i] = g.Cast(g.Head(i), g.In(i).type().dtype);
        }
        return gradients;
      });
}

}  // namespace mxc
