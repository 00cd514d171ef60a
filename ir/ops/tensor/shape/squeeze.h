// SPDX-License-Identifier: Apache-2.0
// What MXNet's squeeze and NumPy's have in common.
#pragma once

#include <optional>

#include "ir/ops/op.h"

namespace mxc {

struct SqueezeAttrs {
  std::optional<Extents> axis;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to drop; None: every axis of extent 1");
  }
};
MXC_ATTRS(Squeeze, SqueezeAttrs);

// `least_rank`: of the output, filled up by an axis of extent 1.
void SqueezeTypes(const SqueezeAttrs& attrs, TypeInference& t, int least_rank);

}  // namespace mxc
