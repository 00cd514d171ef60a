// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/create/np_window.h"

#include <numbers>

namespace mxc {

Op<WindowAttrs> WindowOperator(std::string name, std::string doc,
                               std::vector<double> factors) {
  Op<WindowAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Inputs({});
  op.Types([](const WindowAttrs& a, TypeInference& t) {
    t.SetOutDType(0, a.dtype);
    t.SetOut(0, Shape{a.count});
  });
  op.Meaning([factors](const WindowAttrs& a, Definition& def) {
    if (a.count == 1) return def.Set(0, Constant(1, def.OutDType()));
    const Expr n = Cast(Var(0), DType::kF64);
    const double turn = 2 * std::numbers::pi / static_cast<double>(a.count - 1);
    Expr sum = Lit(factors[0], n);
    for (size_t k = 1; k < factors.size(); ++k) {
      const Expr angle = n * Lit(turn * static_cast<double>(k), n);
      sum = sum + Lit(factors[k], n) * Unary(UnaryOp::kCos, angle);
    }
    def.Set(0, Cast(sum, def.OutDType()));
  });
  return op;
}

MXC_OP(NpiHanning) {
  return WindowOperator("_npi_hanning", "numpy.hanning", {0.5, -0.5});
}

MXC_OP(NpiHamming) {
  return WindowOperator("_npi_hamming", "numpy.hamming", {0.54, -0.46});
}

MXC_OP(NpiBlackman) {
  return WindowOperator("_npi_blackman", "numpy.blackman", {0.42, -0.5, 0.08});
}

}  // namespace mxc
