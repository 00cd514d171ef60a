// SPDX-License-Identifier: Apache-2.0
// Embedding: its attributes, and the types of what looks rows of a table up.
#pragma once

#include <cstdint>

#include "ir/graph/operator.h"
#include "ir/ops/operators.h"

namespace mxc {

struct EmbeddingAttrs {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  DType dtype = DType::kF32;
  bool sparse_grad = false;

  void Describe(Fields& f) {
    f("input_dim", input_dim).Required().Min(1).Doc("rows of the table");
    f("output_dim", output_dim).Required().Min(1).Doc("length of a row");
    f("dtype", dtype).Doc("of the table");
    f("sparse_grad", sparse_grad)
        .Doc(
            "rows that data do not name stay as they are, where the optimizer "
            "is lazy");
  }
};
MXC_ATTRS(Embedding, EmbeddingAttrs);

// Infers the types of data, a table of input_dim rows of output_dim elements, of
// type `dtype` where nothing else says one, and the rows.
void EmbeddingTypes(int64_t input_dim, int64_t output_dim, DType dtype,
                    TypeInference& t);

}  // namespace mxc
