// SPDX-License-Identifier: Apache-2.0
// Strassen's algorithm in Winograd's form (S. Winograd, On Multiplication of
// 2 x 2 Matrices, Linear Algebra and its Applications 4, 1971): the product of
// two matrices by 7 products of quarters, where 8 are usual.
//
//   [C1 C2]   [A1 A2] [B1 B2]      P_p = (Σ a_pq A_q) (Σ b_pq B_q)
//   [C3 C4] = [A3 A4] [B3 B4]      C_q =  Σ c_qp P_p
//
// Of a convolution's 1 x 1 kernels, rows of A are positions, even ones above,
// odd ones below; columns of A are input channels, the first half and the
// second; columns of B are output channels, panels of them in turn left and
// right, so that a thread that computes some of the pairs or panels writes
// neighbouring elements.
//
// Signs and order are such that products are only added, each to a sum of
// earlier ones: no sum is stored in between.
#pragma once

#include <cstdint>

namespace mxc {

inline constexpr int64_t kQuarters = 4, kQuarterProducts = 7;

// The output channel that is number i of the left (0) or the right (1) half.
inline int64_t ChannelOfHalf(int64_t half, int64_t i, int64_t panel) {
  return (i / panel * 2 + half) * panel + i % panel;
}

// a: 7 rows of 4.
inline constexpr double kDataQuarters[] = {1,  0, 0,  0,  //
                                           0,  1, 0,  0,  //
                                           -1, 0, 1,  1,  //
                                           1,  0, -1, 0,  //
                                           0,  0, 0,  1,  //
                                           0,  0, 1,  1,  //
                                           1,  1, -1, -1};
// b: 7 rows of 4.
inline constexpr double kWeightQuarters[] = {1,  0,  0, 0,   //
                                             0,  0,  1, 0,   //
                                             1,  -1, 0, 1,   //
                                             0,  -1, 0, 1,   //
                                             -1, 1,  1, -1,  //
                                             -1, 1,  0, 0,   //
                                             0,  0,  0, 1};
// c: 4 rows of 7.
inline constexpr double kOutputQuarters[] = {1, 1, 0, 0, 0, 0, 0,  //
                                             1, 0, 1, 0, 0, 1, 1,  //
                                             1, 0, 1, 1, 1, 0, 0,  //
                                             1, 0, 1, 1, 0, 1, 0};
// What the products' sums go on from, 7 rows of 7: sums of earlier products.
inline constexpr double kProductStarts[] = {0, 0, 0, 0, 0, 0, 0,  //
                                            1, 0, 0, 0, 0, 0, 0,  //
                                            1, 0, 0, 0, 0, 0, 0,  //
                                            1, 0, 1, 0, 0, 0, 0,  //
                                            1, 0, 1, 1, 0, 0, 0,  //
                                            0, 0, 0, 0, 0, 0, 0,  //
                                            1, 0, 1, 0, 0, 1, 0};

}  // namespace mxc
