// SPDX-License-Identifier: Apache-2.0
// The operators of ops.def as types, by which rules make nodes of them:
//
//   b.Op<op::SliceAxis>({x}, {.axis = 1, .begin = 0, .end = 3}, "half")
//   b.Op<op::Relu>({x})
//
// An operator or an attribute that does not exist does not compile. Attributes
// need the header of their struct, which says whose they are:
//
//   MXC_ATTRS(SliceAxis, SliceAxisAttrs);
#pragma once

#include "ir/graph/typed_operator.h"

namespace mxc {

namespace op {

#define MXC_OPERATOR(family, Id) struct Id;
#include "ir/ops/ops.def"
#undef MXC_OPERATOR

}  // namespace op

#define MXC_OPERATOR(family, Id) \
  template <>                    \
  const Operator& OperatorOf<op::Id>();
#include "ir/ops/ops.def"
#undef MXC_OPERATOR

}  // namespace mxc

#define MXC_ATTRS(Id, Struct) \
  template <>                 \
  struct AttrsOf<op::Id> {    \
    using type = Struct;      \
  }
