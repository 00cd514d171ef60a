// SPDX-License-Identifier: Apache-2.0
// How far rounding may take Winograd's algorithm from the sums that it stands
// for. It computes Y = Aᵀ [Σ_c (G g_c Gᵀ) ∘ (Bᵀ d_c B)] A: the entries of the
// transforms and of what is summed are larger than those of the result, and so
// are their rounding errors.
//
// Every rounding of a value x adds an error of at most u |x|, u = 2^-24. They
// are taken for independent of each other with mean zero, which is what holds
// in practice (Higham and Mary, A New Approach to Probabilistic Rounding Error
// Analysis, SIAM J. Sci. Comput. 41, 2019). Then the squares of what they can
// do to an output add up: if that sum is σ², the error exceeds λ σ with a
// probability of at most 2 exp(−λ²/2) (Hoeffding's inequality). With λ = 7 that
// is once in 10^10 outputs. The squares are followed through the algorithm with
// the values that it meets, tile by tile:
//
//   X = T W for a transform T     σ²(X) = T² σ²(W) + k u² (|T| |W|)²
//                                 k: terms of a row, for as many products and
//                                 additions of at most |T| |W|
//   S = Σ_c U V                   σ²(S) = Σ U² σ²(V) + V² σ²(U) + u² U² V²
//                                         + u² Σ (partial sums)²
//                                 (they go on from earlier S in Strassen's)
//
// for both sides of each transform; weights are transformed in single
// precision, too. The bound follows from what the data are: a bound for all
// data would be larger by orders of magnitude.
#pragma once

#include <span>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/program/program.h"

namespace mxc {

// λ: how many standard deviations a bound is.
inline constexpr double kRoundingDeviations = 7;

// For each element of the step's outputs, as f32: how far they may be from the
// exact results on exact operands, epilogues included; empty for an output
// without bounds, no entries where none has one. An output of f16 or bf16 may
// also be rounded to the other side. Bounds come from Winograd's
// algorithm, and from operands that are themselves off by `operand_bounds`
// (empty: exact): through products as independent errors, through expressions
// by their values at both ends. Those of a TileLoop pass through its steps.
std::vector<Tensor> RoundingBounds(const Program& program, const Step& step,
                                   std::span<const Tensor> operands,
                                   std::span<const Tensor> operand_bounds = {});

}  // namespace mxc
