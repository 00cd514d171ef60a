// SPDX-License-Identifier: Apache-2.0
// Strassen's algorithm in Winograd's form (S. Winograd, On Multiplication of
// 2 x 2 Matrices, Linear Algebra and its Applications 4, 1971): the product of
// two matrices by 7 products of quarters, where 8 are usual.
//
//   [C1 C2]   [A1 A2] [B1 B2]      P_p = (Σ a_pq A_q) (Σ b_pq B_q)
//   [C3 C4] = [A3 A4] [B3 B4]      C_q =  Σ c_qp P_p
#pragma once

#include <cstdint>

namespace mxc {

inline constexpr int64_t kQuarters = 4, kQuarterProducts = 7;

// a: 7 rows of 4.
inline constexpr double kDataQuarters[] = {1, 0,  0,  0,   //
                                           0, 1,  0,  0,   //
                                           1, 1,  -1, -1,  //
                                           0, 0,  0,  1,   //
                                           0, 0,  1,  1,   //
                                           -1, 0, 1,  1,   //
                                           1, 0,  -1, 0};
// b: 7 rows of 4.
inline constexpr double kWeightQuarters[] = {1,  0,  0,  0,  //
                                             0,  0,  1,  0,  //
                                             0,  0,  0,  1,  //
                                             1,  -1, -1, 1,  //
                                             -1, 1,  0,  0,  //
                                             1,  -1, 0,  1,  //
                                             0,  -1, 0,  1};
// c: 4 rows of 7.
inline constexpr double kOutputQuarters[] = {1, 1, 0, 0,  0, 0, 0,  //
                                             1, 0, 1, 0,  1, 1, 0,  //
                                             1, 0, 0, -1, 0, 1, 1,  //
                                             1, 0, 0, 0,  1, 1, 1};

}  // namespace mxc
