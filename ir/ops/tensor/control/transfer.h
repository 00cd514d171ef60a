// SPDX-License-Identifier: Apache-2.0
// Values that go from one device of a group to another: `_send` there, `_receive`
// here, of one another's numbers. Those between two devices go in the order in
// which they are sent, and are received in it.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SendAttrs {
  int64_t num_args = 1;
  int64_t device = 0;

  void Describe(Fields& f) {
    f("num_args", num_args).Range(1, 2).Doc("the value, and what it waits for");
    f("device", device)
        .Range(0, 1 << 15)
        .Doc("number of the one that receives");
  }
};
MXC_ATTRS(Send, SendAttrs);

struct ReceiveAttrs {
  int64_t num_args = 0;
  int64_t device = 0;
  Extents shape;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("num_args", num_args).Range(0, 1).Doc("what it waits for, if anything");
    f("device", device).Range(0, 1 << 15).Doc("number of the one that sends");
    f("shape", shape).Required().Doc("of the value");
    f("dtype", dtype).Doc("of the value");
  }
};
MXC_ATTRS(Receive, ReceiveAttrs);

// f32[1], 0, once the value was sent, after what makes `after`; which may be
// empty.
Value SentTo(GraphBuilder& b, int64_t device, Value value, Value after);

// The value of that type that the device sends, after what makes `after`.
Value ReceivedFrom(GraphBuilder& b, int64_t device, const TensorType& type,
                   Value after);

}  // namespace mxc
