// SPDX-License-Identifier: Apache-2.0
// The product of matrices that a device's kernel computes, said in words, so
// that a library may compute it in the kernel's place:
//
//   out[g, r, c] = Σ d: data[g, r, d] · weight[g, c, d] (+ bias[c])
//
// All are f32, sums, too. Data is operand 0 of the step, weight operand 1, out
// the only output. It is a kernel's mxc_step.attributes: "product" and the
// numbers of MatrixProduct, in their order.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/abi/number_text.h"

namespace mxc {

struct MatrixProduct {
  // In elements, of the operand's first one: how far its groups, lines and
  // elements of a line lie apart. Lines are rows of data and out, columns of
  // weight; along them run the depth, or the columns of out.
  struct Strides {
    int64_t group = 0, line = 0, element = 0;
  };

  int64_t groups = 1, rows = 1, columns = 1, depth = 1;
  Strides data, weight, out;
  int64_t bias = -1;      // an operand, dense; -1: none
  int64_t tf32 = 0;       // 1: data and weight may be rounded to tf32
  int64_t preferred = 0;  // 1: the library is the choice where there is one
};

// Extents and strides are no larger: sums of them do not overflow.
inline constexpr int64_t kMostOfMatrix = std::numeric_limits<int32_t>::max();

inline constexpr std::string_view kProductWord = "product";

template <class Product>  // MatrixProduct, const or not
auto NumbersOf(Product& p) {
  return std::array{
      &p.groups,      &p.rows,           &p.columns,      &p.depth,
      &p.data.group,  &p.data.line,      &p.data.element, &p.weight.group,
      &p.weight.line, &p.weight.element, &p.out.group,    &p.out.line,
      &p.out.element, &p.bias,           &p.tf32,         &p.preferred};
}

inline std::string TextOf(const MatrixProduct& product) {
  return WriteNumbers(kProductWord, NumbersOf(product));
}

// Nothing where the text says something else, or numbers that cannot be.
inline std::optional<MatrixProduct> ReadMatrixProduct(std::string_view text) {
  MatrixProduct p;
  if (!ReadNumbers(text, kProductWord, kMostOfMatrix, NumbersOf(p))) {
    return std::nullopt;
  }
  const bool empty =
      p.groups == 0 || p.rows == 0 || p.columns == 0 || p.depth == 0;
  if (empty || p.tf32 > 1 || p.preferred > 1) return std::nullopt;
  return p;
}

// From an operand's first element to behind the last one that is read.
inline uint64_t ElementsOf(const MatrixProduct::Strides& strides,
                           int64_t groups, int64_t lines, int64_t elements) {
  const auto last = [](int64_t extent, int64_t stride) {
    return static_cast<uint64_t>(extent - 1) * static_cast<uint64_t>(stride);
  };
  return last(groups, strides.group) + last(lines, strides.line) +
         last(elements, strides.element) + 1;
}

}  // namespace mxc
