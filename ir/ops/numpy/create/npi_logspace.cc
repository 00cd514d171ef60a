// SPDX-License-Identifier: Apache-2.0
// _npi_logspace: base to the powers of num numbers at equal distances from start
// to stop, which is the last one with endpoint.
#include "ir/ops/tensor/create/progression.h"

namespace mxc {
namespace {

struct LogspaceAttrs {
  double start = 0, stop = 0;
  int64_t num = 50;
  bool endpoint = true;
  double base = 10;
  std::string ctx;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("start", start).Required().Doc("the first exponent");
    f("stop", stop).Required().Doc("the last exponent, or what follows it");
    f("num", num).Required().Min(1).Doc("how many numbers");
    f("endpoint", endpoint).Doc("stop is the last exponent");
    f("base", base).Doc("what is raised");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
  }

  double step() const {
    const double gaps = static_cast<double>(endpoint ? num - 1 : num);
    return gaps > 0 ? (stop - start) / gaps : 0;
  }
};

}  // namespace

MXC_OP(NpiLogspace) {
  return Op<LogspaceAttrs>("_npi_logspace")
      .Doc("numpy.logspace")
      .Inputs({})
      .Types([](const LogspaceAttrs& a, TypeInference& t) {
        t.SetOutDType(0, a.dtype);
        t.SetOut(0, Shape{a.num});
      })
      .Meaning([](const LogspaceAttrs& a, Definition& def) {
        const Expr exponent =
            Progression(Var(0), a.start, a.step(), DType::kF64);
        def.Set(0, Cast(Pow(Lit(a.base, exponent), exponent), def.OutDType()));
      });
}

}  // namespace mxc
