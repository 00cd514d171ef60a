// SPDX-License-Identifier: Apache-2.0
// The random mask of Dropout.
#pragma once

#include <optional>

#include "ir/graph/builder.h"
#include "ir/graph/fields.h"
#include "ir/graph/operator.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class DropoutMode : int { kTraining, kAlways };

struct DropoutAttrs {
  double p = 0.5;
  DropoutMode mode = DropoutMode::kTraining;
  Extents axes = {};
  std::optional<bool> cudnn_off = false;

  void Describe(Fields& f) {
    f("p", p).Range(0, 1).Doc("share of the elements that become 0");
    f("mode", mode).OneOf({"training", "always"}).Doc("when elements do");
    f("axes", axes).Doc("axes along which the mask is shared");
    f("cudnn_off", cudnn_off).Hint();
  }
};
MXC_ATTRS(Dropout, DropoutAttrs);

// Factors of the given type: 0 for a share p, 1 / (1 − p) for the others; drawn
// anew in every run, the same for the same origin and role.
Value DropoutMask(double p, const TensorType& type, std::string_view role,
                  GraphBuilder& b);

}  // namespace mxc
