// SPDX-License-Identifier: Apache-2.0
// The matrices of Winograd's minimal filtering F(m, r): for a kernel row g of r
// and a data row d of n = m + r - 1, Aᵀ[(G g) ∘ (Bᵀ d)] are m outputs of their
// correlation. Points 0, ±1, ∞ for n = 4; 0, ±5/8, ±3/2, ∞ for n = 6; 0, ±1/2,
// ±1, ±2, ∞ for n = 8. Rounding depends on them: for n = 6 these err by less
// than half of what 0, ±1, ±2 do, and among fractions of 16 none by less (for
// why, Barabasz et al., Error Analysis and Improving the Accuracy of Winograd
// Convolution for Deep Neural Networks, ACM TOMS 46, 2020). Bᵀ depends on n
// alone. For fewer outputs from a row of w = m' + r - 1 < n data, w of the
// finite points are enough, with the same G.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/program/layout.h"

namespace mxc {

// n; 1 for plain kernels.
int64_t WindowOf(KernelBasis basis);
// The basis of windows of n.
KernelBasis BasisOfWindow(int64_t n);

// n rows of `kernel` (r).
std::vector<double> KernelMatrix(KernelBasis basis, int64_t kernel);
// n rows of n.
std::span<const double> DataMatrix(KernelBasis basis);
// `outputs` (m) rows of n.
std::vector<double> OutputMatrix(KernelBasis basis, int64_t outputs);

// The points (rows of G) that rows of `window` (w) data need: n, or less.
struct PointRange {
  int64_t first = 0, count = 0;

  int64_t end() const { return first + count; }
};
PointRange PointsOf(KernelBasis basis, int64_t window);
// Of these points: w rows of w; `outputs` (m') rows of w.
std::vector<double> DataMatrix(KernelBasis basis, int64_t window);
std::vector<double> OutputMatrix(KernelBasis basis, int64_t outputs,
                                 int64_t window);

}  // namespace mxc
