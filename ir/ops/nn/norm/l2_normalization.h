// SPDX-License-Identifier: Apache-2.0
// States the attributes of L2Normalization.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class NormMode : int { kInstance, kSpatial, kChannel };

struct L2NormalizationAttrs {
  double eps = 1e-10;
  NormMode mode = NormMode::kInstance;

  void Describe(Fields& f) {
    f("eps", eps).Doc("added to the sum of squares");
    f("mode", mode)
        .OneOf({"instance", "spatial", "channel"})
        .Doc("what one norm is taken over");
  }

  bool reduces(int axis) const {
    switch (mode) {
      case NormMode::kInstance:
        return axis >= 1;
      case NormMode::kSpatial:
        return axis >= 2;
      case NormMode::kChannel:
        return axis == 1;
    }
    return false;
  }
};
MXC_ATTRS(L2Normalization, L2NormalizationAttrs);

}  // namespace mxc
