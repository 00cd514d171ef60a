// SPDX-License-Identifier: Apache-2.0
// How far a tensor is from what it should be.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/tensor.h"

namespace mxc {

// |found − expected| may be absolute · max(1, largest |expected|) + relative ·
// |expected| + more, and the last bit of the element's type may differ: half
// precision has fewer than the rest allows. Where more than one rounding lies
// between both, as many bits, of the largest value.
struct Tolerance {
  double absolute = 1e-5, relative = 1e-4;
  double more = 0;
  int roundings = 1;
};

// What a tolerance allows of |found − expected|, where the largest |expected| is
// `scale`.
double AllowedError(const Tolerance& tolerance, double expected, double scale,
                    DType dtype);

// The largest finite magnitude of a tensor, 0 where there is none.
double LargestMagnitude(const Tensor& tensor);

// The last bit of a value of the type, relative to it at most; 0 where
// tolerances are wider.
double LastBit(DType dtype);

// How far `found` is from `expected`.
struct Difference {
  double error = 0;    // largest |found − expected|
  double scale = 0;    // largest |expected|
  int64_t worst = -1;  // where it exceeds the tolerance most, or -1
  double found = 0, expected = 0;

  double relative() const { return scale > 0 ? error / scale : error; }
};

// Of tensors of one shape. NaN equals NaN, an infinity itself. With `bounds`
// each element has its own |found − expected| instead.
Difference Compare(const Tensor& found, const Tensor& expected,
                   const Tolerance& tolerance, const Tensor* bounds = nullptr);

// "(0, 3, 5)": the index of a position in row-major order.
std::string IndexText(int64_t position, const Shape& shape);

}  // namespace mxc
