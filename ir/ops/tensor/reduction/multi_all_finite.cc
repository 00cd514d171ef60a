// SPDX-License-Identifier: Apache-2.0
// multi_all_finite: 1 if no array holds an infinity or NaN, else 0.
// Source: MXNet 1.9.1 operator/contrib/all_finite-inl.h.
#include "ir/ops/tensor/reduction/all_finite.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct MultiAllFiniteAttrs {
  int64_t num_arrays = 1;
  bool init_output = true;

  void Describe(Fields& f) {
    f("num_arrays", num_arrays).Range(1, kMaxOperands).Doc("inputs");
    f("init_output", init_output).Doc("the output starts from 1").Hint();
  }
};

}  // namespace

MXC_OP(MultiAllFinite) {
  return Op<MultiAllFiniteAttrs>("multi_all_finite")
      .Doc("whether all elements of all arrays are finite")
      .InputsOf([](const MultiAllFiniteAttrs& a) {
        return NumberedInputs("array_", a.num_arrays);
      })
      .Types([](const auto&, TypeInference& t) { FiniteTypes(t); })
      .Meaning([](const auto&, Definition& def) {
        Expr all = FiniteInput(def, 0);
        for (int i = 1; i < def.inputs(); ++i) {
          all = Min(all, FiniteInput(def, i));
        }
        def.Set(0, all);
      })
      .ZeroGradient();
}

}  // namespace mxc
