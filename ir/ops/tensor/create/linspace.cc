// SPDX-License-Identifier: Apache-2.0
// _linspace: num numbers at equal distances from start to stop, which is the
// last one unless endpoint is false.
#include "ir/ops/tensor/create/progression.h"

namespace mxc {
namespace {

struct LinspaceAttrs {
  double start = 0, stop = 0;
  int64_t num = 1;
  bool endpoint = true;
  std::string ctx;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("start", start).Required().Doc("the first number");
    f("stop", stop).Required().Doc("the last number, or the one after it");
    f("num", num).Required().Min(1).Doc("how many numbers");
    f("endpoint", endpoint).Doc("stop is the last number");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
  }

  double step() const {
    const int64_t gaps = endpoint ? num - 1 : num;
    return gaps > 0 ? (stop - start) / static_cast<double>(gaps) : 0;
  }
};

}  // namespace

MXC_OP(Linspace) {
  return Op<LinspaceAttrs>("_linspace")
      .Alias({"_npi_linspace"})
      .Doc("numbers at equal distances between two")
      .Inputs({})
      .Types([](const LinspaceAttrs& attrs, TypeInference& t) {
        t.SetOutDType(0, attrs.dtype);
        t.SetOut(0, Shape{attrs.num});
      })
      .Meaning([](const LinspaceAttrs& attrs, Definition& def) {
        def.Set(0,
                Progression(Var(0), attrs.start, attrs.step(), def.OutDType()));
      });
}

}  // namespace mxc
