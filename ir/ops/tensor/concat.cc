// SPDX-License-Identifier: Apache-2.0
// Concat: the inputs one after the other along dim; all else agrees.
// C1, C2, C3: see joining.h
#include "ir/ops/tensor/axes.h"
#include "ir/ops/tensor/joining.h"

namespace mxc {
namespace {

struct ConcatAttrs {
  int64_t num_args = 1;
  int64_t dim = 1;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
    f("dim", dim).Doc("the axis along which the inputs are joined");
  }
};

}  // namespace

MXC_OP(Concat) {
  return Op<ConcatAttrs>("Concat")
      .Alias({"concat"})
      .Doc("joins the inputs along an axis")
      .Variadic()
      .InputsOf([](const ConcatAttrs& a) {
        return NumberedInputs("arg", a.num_args);
      })
      .Types(
          [](const ConcatAttrs& a, TypeInference& t) { JoinTypes(t, a.dim); })
      .Meaning([](const ConcatAttrs& a, Definition& def) {
        JoinMeaning(def, *ResolveAxis(a.dim, def.OutShape().rank()));
      })
      .Gradient([](const ConcatAttrs& a, GradientBuilder& g) {
        return JoinGradient(g, a.dim);
      });
}

}  // namespace mxc
