// SPDX-License-Identifier: Apache-2.0
// States the attributes of pick.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class PickMode : int { kWrap, kClip };

struct PickAttrs {
  std::optional<int64_t> axis = -1;
  bool keepdims = false;
  PickMode mode = PickMode::kClip;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis of data");
    f("keepdims", keepdims).Doc("the axis stays, with extent 1");
    f("mode", mode)
        .OneOf({"wrap", "clip"})
        .Doc("what becomes of an index out of range");
  }
};
MXC_ATTRS(Pick, PickAttrs);

}  // namespace mxc
