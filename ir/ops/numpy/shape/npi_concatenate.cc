// SPDX-License-Identifier: Apache-2.0
// _npi_concatenate: numpy.concatenate along a named axis.
// C1, C2, C3: see joining.h
// C4  axis is given (numpy's flattening form is not supported)
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/joining.h"

namespace mxc {
namespace {

struct NpiConcatenateAttrs {
  int64_t num_args = 1;
  std::optional<int64_t> axis = 0;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
    f("axis", axis).Doc("the axis along which the inputs are joined");
  }
};

std::optional<std::string> CheckNpiConcatenate(const NpiConcatenateAttrs& a) {
  if (a.axis) return std::nullopt;
  return "C4: axis None is not supported";
}

}  // namespace

MXC_OP(NpiConcatenate) {
  return Op<NpiConcatenateAttrs>("_npi_concatenate")
      .Doc("numpy.concatenate")
      .Variadic()
      .InputsOf([](const NpiConcatenateAttrs& a) {
        return NumberedInputs("data", a.num_args);
      })
      .Check(CheckNpiConcatenate)
      .Types([](const NpiConcatenateAttrs& a, TypeInference& t) {
        JoinTypes(t, *a.axis);
      })
      .Meaning([](const NpiConcatenateAttrs& a, Definition& def) {
        JoinMeaning(def, *ResolveAxis(*a.axis, def.OutShape().rank()));
      })
      .Gradient([](const NpiConcatenateAttrs& a, GradientBuilder& g) {
        return JoinGradient(g, *a.axis);
      });
}

}  // namespace mxc
