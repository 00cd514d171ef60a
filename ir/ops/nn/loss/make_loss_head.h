// SPDX-License-Identifier: Apache-2.0
// States the attributes of MakeLoss.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class LossNormalization : int { kNull, kBatch, kValid };

struct MakeLossHeadAttrs {
  double grad_scale = 1;
  double valid_thresh = 0;
  LossNormalization normalization = LossNormalization::kNull;

  void Describe(Fields& f) {
    f("grad_scale", grad_scale).Doc("the gradient, before normalization");
    f("valid_thresh", valid_thresh).Doc("elements above it are valid");
    f("normalization", normalization)
        .OneOf({"null", "batch", "valid"})
        .Doc("what the gradient is divided by");
  }
};
MXC_ATTRS(MakeLossHead, MakeLossHeadAttrs);

}  // namespace mxc
