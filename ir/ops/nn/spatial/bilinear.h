// SPDX-License-Identifier: Apache-2.0
// Bilinear interpolation between the cells of an image.
#pragma once

#include <functional>

#include "ir/program/expr.h"

namespace mxc {

// The value of a cell, given by integers that lie in the image.
using CellOf = std::function<Expr(Expr y, Expr x)>;

// At (y, x), of a float type, between the four cells around it, those outside
// the height × width image counting as 0.
Expr BilinearWithZeros(Expr y, Expr x, int64_t height, int64_t width,
                       const CellOf& cell);

// The same where the image goes on for ever with the values of its border.
// Coordinates must not be below 0.
Expr BilinearWithBorder(Expr y, Expr x, int64_t height, int64_t width,
                        const CellOf& cell);

// The same for coordinates within the image, between the cells at their floor
// and at their ceiling: where a coordinate is whole these are one, so that the
// slope is 0 there.
Expr BilinearWithin(Expr y, Expr x, const CellOf& cell);

}  // namespace mxc
