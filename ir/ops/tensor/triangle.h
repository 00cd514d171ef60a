// SPDX-License-Identifier: Apache-2.0
// A triangle of a square matrix as a row: of a lower one its rows from the
// first to the last, of an upper one its columns.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct TriangleAttrs {
  int64_t offset = 0;
  bool lower = true;

  void Describe(Fields& f) {
    f("offset", offset)
        .Range(-1e9, 1e9)
        .Doc("the diagonal that bounds the triangle; not 0: decides the side");
    f("lower", lower).Doc("for offset 0: the lower triangle, else the upper");
  }

  bool is_lower() const { return offset < 0 || (offset == 0 && lower); }
};

// The elements of a triangle with `rows` rows.
int64_t TriangleSize(int64_t rows);

// Square matrices with zeros beside the lower or the upper triangle.
Value TriangleOnly(GraphBuilder& b, Value value, bool lower);

}  // namespace mxc
