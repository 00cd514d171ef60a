// SPDX-License-Identifier: Apache-2.0
// _rnn_param_concat: joins the flat parameter arrays of a recurrent layer; only
// its gradient and storage differ from Concat.
// C1, C2, C3: see joining.h
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/joining.h"

namespace mxc {
namespace {

struct RnnParamConcatAttrs {
  int64_t num_args = 1;
  int64_t dim = 1;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
    f("dim", dim).Doc("the axis along which the inputs are joined");
  }
};

}  // namespace

MXC_OP(RnnParamConcat) {
  return Op<RnnParamConcatAttrs>("_rnn_param_concat")
      .Alias({"_npi_rnn_param_concat"})
      .Doc("joins the parameters of a recurrent layer")
      .Variadic()
      .InputsOf([](const RnnParamConcatAttrs& a) {
        return NumberedInputs("arg", a.num_args);
      })
      .Types([](const RnnParamConcatAttrs& a, TypeInference& t) {
        JoinTypes(t, a.dim);
      })
      .Meaning([](const RnnParamConcatAttrs& a, Definition& def) {
        JoinMeaning(def, *ResolveAxis(a.dim, def.OutShape().rank()));
      })
      .Gradient([](const RnnParamConcatAttrs& a, GradientBuilder& g) {
        return JoinGradient(g, a.dim);
      });
}

}  // namespace mxc
