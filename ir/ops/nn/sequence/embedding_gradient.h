// SPDX-License-Identifier: Apache-2.0
// States the attributes of _embedding_gradient.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct EmbeddingGradientAttrs {
  int64_t input_dim = 0;
  bool sparse = false;

  void Describe(Fields& f) {
    f("input_dim", input_dim).Required().Min(1).Doc("rows of the table");
    f("sparse", sparse).Doc("rows that data do not name have no gradient");
  }
};
MXC_ATTRS(EmbeddingGradient, EmbeddingGradientAttrs);

}  // namespace mxc
