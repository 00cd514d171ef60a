// SPDX-License-Identifier: Apache-2.0
// _image_grey: the mean grey of a picture; our own operator.
//   data    f32[H, W, C]
//   output  f32[1]
#include "ir/ops/op.h"

namespace mxc {

MXC_OP(ImageGrey) {
  return Op<>("_image_grey")
      .Doc("the mean grey of a picture")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, t.InDType(0));
        t.SetOut(0, Shape{1});
      })
      .Meaning([](const NoAttrs&, Definition& def) {
        const Shape& data = def.InShape(0);
        const auto color = [&](const std::vector<Expr>& r, int channel) {
          return def.In(0, {r[0], r[1], Expr(channel)});
        };
        const Expr sum = Definition::Sum({data[0], data[1]},
                                         [&](const std::vector<Expr>& r) {
                                           if (data[2] == 1) return color(r, 0);
                                           return color(r, 0) * def.Lit(0.299) +
                                                  color(r, 1) * def.Lit(0.587) +
                                                  color(r, 2) * def.Lit(0.114);
                                         });
        def.Set(0, sum / def.Lit(static_cast<double>(data[0] * data[1])));
      })
      .Internal();
}

}  // namespace mxc
