// SPDX-License-Identifier: Apache-2.0
// What a contraction multiplies, as expressions.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// What the axes of the operands are indexed with.
struct ContractionIndices {
  Expr batch = 0, group = 0, in = 0, out = 0;
  std::array<Expr, 3> spatial = {0, 0, 0};
};

// The index of an operand with these axes.
std::vector<Expr> IndicesOf(const std::vector<Role>& axes, const Contraction& c,
                            const ContractionIndices& at);

// The product of two Loads, of operands 0 and 1 (of which a weight of 4 bits
// takes more); where it is not inside, the window leaves the data, and the term
// is 0.
struct ProductTerms {
  Expr inside, data, weight;
};

// Makes a variable of what is summed: first of the input channels, then of each
// spatial axis of the kernel.
using OverRange = std::function<Expr(const Expr& begin, const Expr& end)>;

// Which positions of a kernel the sum runs over. All: ranges begin at 0 and have
// constant ends. Otherwise those that meet no data may be left out: everywhere,
// or but along the innermost axis, where each lane of a vector of outputs meets
// others.
enum class TapRange { kAll, kMeeting, kMeetingOfVectors };

// Of the output at `out`.
ProductTerms TermsOf(const Contraction& c, const Buffer& data,
                     const Buffer& weight, const ContractionIndices& out,
                     TapRange range, const OverRange& over);

}  // namespace mxc
