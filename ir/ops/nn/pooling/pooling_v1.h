// SPDX-License-Identifier: Apache-2.0
// What Pooling_v1 and its gradient share.
#pragma once

#include "ir/ops/nn/pooling/pooling.h"
#include "ir/ops/op.h"

namespace mxc {

enum class PoolV1Type : int { kMax, kAvg, kSum };
enum class PoolV1Convention : int { kFull, kValid };

struct PoolingV1Attrs {
  Extents kernel, stride, pad;
  PoolV1Type pool_type = PoolV1Type::kMax;
  PoolV1Convention pooling_convention = PoolV1Convention::kValid;
  bool global_pool = false;

  void Describe(Fields& f) {
    f("kernel", kernel).Doc("window, (h, w)");
    f("pool_type", pool_type).OneOf({"max", "avg", "sum"});
    f("global_pool", global_pool).Doc("whether the window is the whole image");
    f("pooling_convention", pooling_convention)
        .OneOf({"full", "valid"})
        .Doc("how the number of windows is rounded");
    f("stride", stride).Doc("step of the window; 1 when empty");
    f("pad", pad).Doc("zeros on both sides; 0 when empty");
  }
};

// Axis d, 0 or 1, of an image of `extent` cells.
PoolingAxis RowOf(const PoolingV1Attrs& a, int d, int64_t extent);

}  // namespace mxc
