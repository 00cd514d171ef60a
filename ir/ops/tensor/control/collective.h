// SPDX-License-Identifier: Apache-2.0
// States the attributes of _collective, and makes such nodes: sums and
// exchanges between the devices of a group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CollectiveAttrs {
  int64_t num_args = 0;
  std::string operation;
  int64_t members = 0;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("operation", operation).Required().Doc("its name");
    f("members", members).Range(0, 1 << 15).Doc("devices; 0: any number");
  }
};
MXC_ATTRS(Collective, CollectiveAttrs);

// What `members` devices (0: any number) have of each of the inputs, which are
// of one element type, after a collective of runtime/abi/collectives.def.
std::vector<Value> CollectiveOf(GraphBuilder& b, std::string_view operation,
                                std::vector<Value> inputs, int64_t members);

}  // namespace mxc
