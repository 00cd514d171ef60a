// SPDX-License-Identifier: Apache-2.0
// Factorizations by the machine's LAPACK, which is loaded when the first of
// them is asked for. Operands are dense, row-major f32 or f64, all of one type;
// leading axes are a batch of matrices. Attributes are words "name=0|1"; those
// that are not given are what MXNet's operators of these names take.
//
//   potrf  A [n, n] → L [n, n]       A = L · Lᵀ, or Lᵀ · L with lower=0; of A
//                                    that triangle counts, the other of L is 0
//   potri  L [n, n] → B [n, n]       (L · Lᵀ)⁻¹, or (Lᵀ · L)⁻¹ with lower=0
//   trsm   A [k, k], B [m, n] → X    op(A) · X = B, or X · op(A) = B with
//                                    rightside=1; transpose=1, lower=0
//   gelqf  A [m, n] → Q [m, n], L [m, m]   A = L · Q, m ≤ n, with LAPACK's
//                                    signs
//   syevd  A [n, n] → U [n, n], v [n]      A = Uᵀ · diag(v) · U, of A the lower
//                                    triangle; v ascends; of each row of U the
//                                    greatest element is positive
//
// Workspace of gelqf: 33 m elements; of syevd: 1 + 6 n + 2 n² elements, then
// 3 + 5 n of four bytes. They return LAPACK's info where a matrix has no such
// factors, -1000 where the operands are not as above.
#pragma once

#include "runtime/base/status.h"
#include "runtime/library/registry.h"

namespace mxc::runtime {

StatusOr<Function> LoadPotrf();
StatusOr<Function> LoadPotri();
StatusOr<Function> LoadTrsm();
StatusOr<Function> LoadGelqf();
StatusOr<Function> LoadSyevd();

}  // namespace mxc::runtime
