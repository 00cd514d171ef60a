// SPDX-License-Identifier: Apache-2.0
// States the attributes of Reshape.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ReshapeAttrs {
  Extents shape = {};
  bool reverse = false;
  Extents target_shape = {};
  bool keep_highest = false;

  void Describe(Fields& f) {
    f("shape", shape).Doc("extents and codes of the output");
    f("reverse", reverse).Doc("match shape and data from the last axis");
    f("target_shape", target_shape).Doc("deprecated; 0 infers an extent");
    f("keep_highest", keep_highest).Doc("target_shape keeps the first extent");
  }
};
MXC_ATTRS(Reshape, ReshapeAttrs);

}  // namespace mxc
