// SPDX-License-Identifier: Apache-2.0
// reset_arrays: zeros in place of each array.
//   data_k        t[…], a state
//   output<k>     t[…]: zeros, as the state is from then on
//   next_data_k   t[…]: the same
// MXNet's operator has no outputs, so that no network of its own holds one.
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct ResetArraysAttrs {
  int64_t num_arrays = 1;

  void Describe(Fields& f) {
    f("num_arrays", num_arrays)
        .Required()
        .Range(1, static_cast<double>(kMaxOperands) / 2)
        .Doc("inputs");
  }
};

std::vector<InputSpec> ResetArraysInputs(const ResetArraysAttrs& a) {
  std::vector<InputSpec> inputs = NumberedInputs("data_", a.num_arrays);
  for (InputSpec& input : inputs) input.kind = InputKind::kState;
  return inputs;
}

std::vector<std::string> ResetArraysOutputs(const ResetArraysAttrs& a) {
  std::vector<std::string> outputs = NumberedOutputs(a.num_arrays);
  for (const InputSpec& input : ResetArraysInputs(a)) {
    outputs.push_back("next_" + input.name);
  }
  return outputs;
}

void ResetArraysTypes(const ResetArraysAttrs&, TypeInference& t) {
  for (int i = 0; i < t.inputs(); ++i) {
    t.SetIn(i, t.Out(i));
    t.SetInDType(i, t.OutDType(i));
    for (const int output : {i, t.inputs() + i}) {
      t.SetOut(output, t.In(i));
      t.SetOutDType(output, t.InDType(i));
    }
  }
}

void ResetArraysMeaning(const ResetArraysAttrs&, Definition& def) {
  for (int output = 0; output < 2 * def.inputs(); ++output) {
    def.Set(output, Constant(0, def.OutDType(output)));
  }
}

}  // namespace

MXC_OP(ResetArrays) {
  return Op<ResetArraysAttrs>("reset_arrays")
      .Doc("zeros in place of each array")
      .InputsOf(ResetArraysInputs)
      .OutputsOf(ResetArraysOutputs)
      .VisibleOutputsOf([](const ResetArraysAttrs& a) {
        return static_cast<int>(a.num_arrays);
      })
      .NextStatesOf([](const ResetArraysAttrs& a) {
        return static_cast<int>(a.num_arrays);
      })
      .Types(ResetArraysTypes)
      .Meaning(ResetArraysMeaning);
}

}  // namespace mxc
