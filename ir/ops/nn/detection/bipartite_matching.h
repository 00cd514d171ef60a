// SPDX-License-Identifier: Apache-2.0
// The attributes of _contrib_bipartite_matching.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct BipartiteMatchingAttrs {
  bool is_ascend = false;
  double threshold = 0;
  int64_t topk = -1;

  void Describe(Fields& f) {
    f("is_ascend", is_ascend).Doc("whether the least score is the best");
    f("threshold", threshold).Required().Doc("the score that ends the pairs");
    f("topk", topk).Doc("the most pairs, less one; −1 is any number");
  }
};
MXC_ATTRS(BipartiteMatchingSorted, BipartiteMatchingAttrs);

}  // namespace mxc
