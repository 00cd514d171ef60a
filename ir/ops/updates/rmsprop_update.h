// SPDX-License-Identifier: Apache-2.0
// rmsprop_update and rmspropalex_update: what they share.
#pragma once

#include "ir/ops/updates/update.h"

namespace mxc {

struct RmspropUpdateOptions : UpdateOptions {
  double gamma1 = 0.95, epsilon = 1e-8, clip_weights = -1;

  // `next`, to ±clip_weights.
  Expr Limited(const Expr& next, const WeightUpdate& u) const {
    if (clip_weights < 0) return next;
    return ClippedTo(next, u.Literal(clip_weights));
  }

 protected:
  void DescribeMean(Fields& f) {
    f("gamma1", gamma1).Doc("decay of the mean square");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
  }
  void DescribeLimit(Fields& f) {
    f("clip_weights", clip_weights)
        .Doc("limits weights to ±this; no limit if below 0");
  }
};

}  // namespace mxc
