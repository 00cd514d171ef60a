// SPDX-License-Identifier: Apache-2.0
// _arange: start, start + step, … before stop; each number `repeat` times.
// Without stop it counts from 0 to start. With infer_range the length follows
// from the readers.
// C1  step is not 0 and leads from start to stop
#include <cmath>

#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/create/progression.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void ArangeTypes(const ArangeAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype);
  if (!attrs.stop && attrs.infer_range) {
    t.SetOut(0, Shape::OfRank(1));
    return;
  }
  const double last = attrs.stop.value_or(attrs.start);
  const double count = std::ceil((last - attrs.first()) / attrs.step);
  if (!t.Require(count >= 1 && count < 9e15,
                 "C1: there is no number from {} to {} in steps of {}",
                 attrs.first(), last, attrs.step)) {
    return;
  }
  const auto extent =
      RequireProduct(t, static_cast<int64_t>(count), attrs.repeat);
  if (extent) t.SetOut(0, Shape{*extent});
}

}  // namespace

MXC_OP(Arange) {
  return Op<ArangeAttrs>("_arange")
      .Alias({"_npi_arange"})
      .Doc("numbers at equal distances")
      .Inputs({})
      .Types(ArangeTypes)
      .Meaning([](const ArangeAttrs& attrs, Definition& def) {
        def.Set(0, Counting(Var(0) / attrs.repeat, attrs.first(), attrs.step,
                            def.OutDType()));
      });
}

}  // namespace mxc
