// SPDX-License-Identifier: Apache-2.0
// _contrib_quadratic: a · x² + b · x + c.
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

struct QuadraticAttrs {
  double a = 0, b = 0, c = 0;

  void Describe(Fields& f) {
    f("a", a).Doc("factor of x squared");
    f("b", b).Doc("factor of x");
    f("c", c).Doc("value at 0");
  }
};

Expr Quadratic(const QuadraticAttrs& attrs, Expr x) {
  return (Lit(attrs.a, x) * x + Lit(attrs.b, x)) * x + Lit(attrs.c, x);
}

}  // namespace

MXC_OP(Quadratic) {
  return UnaryOperatorOf<QuadraticAttrs>("_contrib_quadratic",
                                         "a polynomial of degree 2", Quadratic);
}

}  // namespace mxc
