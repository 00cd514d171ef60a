// SPDX-License-Identifier: Apache-2.0
// What a product multiplies (product_shape.h), as expressions over variables of
// its own, and how operands in given layouts are read.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/loops/product_terms.h"
#include "codegen/schedule/affine.h"
#include "ir/program/program.h"

namespace mxc {

// A variable of the product, and how many values it has.
struct ProductVar {
  Expr var;
  int64_t extent = 1;
};

struct ProductForm {
  ContractionIndices at;  // of an output
  ProductVar group, column;
  // From the outermost to the innermost: what lies side by side in data comes
  // last, else rows are as the output has them.
  std::vector<ProductVar> rows, depth;
  // Address forms: a condition, and Loads of data and weight.
  Expr inside, elements[2];

  std::vector<ProductVar> variables;  // all of them
  IntervalOf Ranges() const;
  Affine Offset(int side) const;
};

ProductForm FormOf(const Contraction& c, const Buffer& data,
                   const Buffer& weight);

// How elements are taken: `vector` at once that lie side by side, along the
// depth or along the other index.
struct ProductAccess {
  bool along_depth = true;
  int vector = 1;
};

// `offset`: of an element in its operand; `inside`: where there is one.
// `vectors`: those that may be read there, the widest first. The variables are
// listed from the outermost to the innermost.
ProductAccess AccessOf(const Affine& offset, const Expr& inside,
                       const std::vector<int>& vectors,
                       const std::vector<ProductVar>& lines,
                       const std::vector<ProductVar>& depth);

// Of data, 0, or weight, 1, in a tile of so many elements by so many threads,
// each of which copies at least one vector.
ProductAccess AccessOf(const ProductForm& form, int side, DType dtype,
                       bool aligned, int64_t elements, int threads);

// What copies that run ahead carry.
inline constexpr int kWideCopy = 16, kSmallCopy = 4;

}  // namespace mxc
