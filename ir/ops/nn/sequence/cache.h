// SPDX-License-Identifier: Apache-2.0
// Rows of texts that a network keeps from run to run: what cache, _cache_rows
// and _append share.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct CacheAttrs {
  int64_t axis = 1;
  int64_t bound = 1;

  void Describe(Fields& f) {
    f("axis", axis).Min(1).Doc("that grows");
    f("bound", bound).Required().Min(1).Doc("the most rows along axis");
  }
};
MXC_ATTRS(Cache, CacheAttrs);

struct CacheRowsAttrs : CacheAttrs {
  int64_t streams = 1;
  int64_t rows = 0;

  void Describe(Fields& f) {
    CacheAttrs::Describe(f);
    f("streams", streams).Min(1).Doc("texts that grow apart");
    f("rows", rows).Min(0).Doc("of each that come at once; 0: any number");
  }
};
MXC_ATTRS(CacheRows, CacheRowsAttrs);
MXC_ATTRS(Append, CacheRowsAttrs);

// C1  axis is one of data's, and not the first
bool HasCachedAxis(const CacheAttrs& attrs, const Shape& data,
                   TypeInference& t);

}  // namespace mxc
