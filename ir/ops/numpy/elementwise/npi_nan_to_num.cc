// SPDX-License-Identifier: Apache-2.0
// _npi_nan_to_num: numbers in place of NaN and of infinities; those that are
// not given are the greatest and the least of the type.
#include <limits>

#include "ir/ops/numpy/elementwise/np_arithmetic.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

struct NanToNumAttrs {
  bool copy = true;
  double nan = 0;
  std::optional<double> posinf, neginf;

  void Describe(Fields& f) {
    f("copy", copy).Doc("whether the data stay as they are").Hint();
    f("nan", nan).Doc("in place of NaN");
    f("posinf", posinf).Doc("in place of +∞; None: the greatest number");
    f("neginf", neginf).Doc("in place of −∞; None: the least number");
  }
};

double Greatest(DType dtype) {
  if (dtype == DType::kF64) return std::numeric_limits<double>::max();
  if (dtype == DType::kF16) return 65504;
  return std::numeric_limits<float>::max();
}

void NanToNumMeaning(const NanToNumAttrs& a, Definition& def) {
  const Expr x = def.In(0, def.Indices());
  const double greatest = Greatest(x->dtype);
  const Expr above = Lit(a.posinf.value_or(greatest), x);
  const Expr below = Lit(a.neginf.value_or(-greatest), x);
  def.Set(0, Select(np::IsNan(x), Lit(a.nan, x),
                    Select(np::IsInfinite(x, true, false), above,
                           Select(np::IsInfinite(x, false, true), below, x))));
}

}  // namespace

MXC_OP(NpiNanToNum) {
  return Op<NanToNumAttrs>("_npi_nan_to_num")
      .Doc("numpy.nan_to_num")
      .Types([](const NanToNumAttrs&, TypeInference& t) { SameTypes(t); })
      .Meaning(NanToNumMeaning)
      .ElementwiseGradient();
}

}  // namespace mxc
