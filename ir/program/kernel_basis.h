// SPDX-License-Identifier: Apache-2.0
// The matrices of Winograd's minimal filtering F(m, 3): for a kernel row g and
// a data row d, Aᵀ[(G g) ∘ (Bᵀ d)] are m outputs of their correlation. Points
// 0, 1, -1, ∞ for m = 2, and 2, -2 as well for m = 4.
#pragma once

#include <array>
#include <span>

#include "ir/program/layout.h"

namespace mxc {

// Outputs of a tile along one axis: 2 or 4; 1 for plain kernels.
int TileOutputs(KernelBasis basis);
// (m + 2) rows of 3.
std::span<const double> KernelMatrix(KernelBasis basis);
// (m + 2) rows of (m + 2).
std::span<const double> DataMatrix(KernelBasis basis);
// m rows of (m + 2).
std::span<const double> OutputMatrix(KernelBasis basis);
// F(3, m), of the same points and with the same data matrix: a kernel of m, 3
// outputs. The gradient of a kernel of 3 is such a correlation, of the data
// with the gradient of m outputs.
std::span<const double> WideKernelMatrix(KernelBasis basis);  // (m + 2) rows
                                                              // of m
std::span<const double> WideOutputMatrix(KernelBasis basis);  // 3 rows of
                                                              // (m + 2)

}  // namespace mxc
