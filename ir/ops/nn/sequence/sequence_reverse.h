// SPDX-License-Identifier: Apache-2.0
// States the attributes of SequenceReverse.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SequenceReverseAttrs {
  bool use_sequence_length = false;
  int64_t axis = 0;

  void Describe(Fields& f) {
    f("use_sequence_length", use_sequence_length)
        .Doc("whether there is an input sequence_length");
    f("axis", axis).Doc("of the steps, 0");
  }
};
MXC_ATTRS(SequenceReverse, SequenceReverseAttrs);

}  // namespace mxc
