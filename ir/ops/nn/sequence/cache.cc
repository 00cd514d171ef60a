// SPDX-License-Identifier: Apache-2.0
// cache: data, of which later runs see the rows, as of keys and values; our own
// operator.
//   data    [n, d1 …]
//   output  the same
// A network that is compiled to write texts keeps the rows of the runs before
// (frontend/generate.h): it has _cache_rows instead.
// C1  axis is one of data's, and not the first
#include "ir/ops/nn/sequence/cache.h"

#include "ir/ops/tensor/shape/view.h"

namespace mxc {

bool HasCachedAxis(const CacheAttrs& attrs, const Shape& data,
                   TypeInference& t) {
  return t.Require(attrs.axis < data.rank(), "C1: axis {} of data with {} axes",
                   attrs.axis, data.rank());
}

MXC_OP(Cache) {
  return Op<CacheAttrs>("cache")
      .Doc("data, of which later runs see the rows where texts are written")
      .Types([](const CacheAttrs& attrs, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        if (t.In(0).known_rank()) HasCachedAxis(attrs, t.In(0), t);
      })
      .Meaning([](const CacheAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .PassGradient();
}

}  // namespace mxc
