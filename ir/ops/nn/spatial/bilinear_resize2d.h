// SPDX-License-Identifier: Apache-2.0
// States the attributes of _contrib_BilinearResize2D.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class ResizeMode : int {
  kSize,
  kOddScale,
  kLike,
  kToEvenDown,
  kToEvenUp,
  kToOddDown,
  kToOddUp
};

struct BilinearResizeAttrs {
  int64_t height = 1, width = 1;
  std::optional<double> scale_height = {}, scale_width = {};
  ResizeMode mode = ResizeMode::kSize;
  bool align_corners = true;

  void Describe(Fields& f) {
    f("height", height).Range(1, 10000).Doc("of the output");
    f("width", width).Range(1, 10000).Doc("of the output");
    f("scale_height", scale_height)
        .Doc("factor, instead of height, with scale_width");
    f("scale_width", scale_width)
        .Doc("factor, instead of width, with scale_height");
    f("mode", mode)
        .OneOf({"size", "odd_scale", "like", "to_even_down", "to_even_up",
                "to_odd_down", "to_odd_up"})
        .Doc("where the size comes from");
    f("align_corners", align_corners)
        .Doc("whether the corners' centres coincide");
  }
};
MXC_ATTRS(BilinearResize2D, BilinearResizeAttrs);

}  // namespace mxc
