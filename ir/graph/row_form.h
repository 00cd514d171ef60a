// SPDX-License-Identifier: Apache-2.0
// RowForm: a tensor of which few rows are not zero, as the rows that are added up
// to it. The gradient of a table has this form where rows of it are read.
//
//   tensor[v, …] = Σ_p select(numbers[p] = v, rows[p, …], 0)
//
// The tensor itself need not be computed.
#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace mxc {

struct RowForm {
  Value numbers;  // i32[P], or i64[P] for more rows than that; others: none
  Value rows;     // t[P, …], of the tensor's type t and of its other axes

  explicit operator bool() const { return static_cast<bool>(numbers); }
};

// The type of the numbers of so many rows.
inline DType RowNumberType(int64_t rows) {
  return rows > INT32_MAX ? DType::kI64 : DType::kI32;
}

}  // namespace mxc
