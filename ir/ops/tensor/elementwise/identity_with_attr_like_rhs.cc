// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(IdentityWithAttrLikeRhs) {
  return Op<>("_identity_with_attr_like_rhs")
      .Doc("lhs, of the shape and the type of rhs")
      .Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}})
      .Types([](const NoAttrs&, TypeInference& t) { SameTypes(t); })
      .Meaning([](const NoAttrs&, Definition& def) {
        def.Set(0, def.In(0, def.Indices()));
      })
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        std::vector<Value> gradients = g.None();
        gradients[0] = g.Head();
        return gradients;
      });
}

}  // namespace mxc
