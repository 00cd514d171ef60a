// SPDX-License-Identifier: Apache-2.0
// What the sequence operators share.
//   data             f[T, N, d1 …], or f[N, T, d1 …] with axis 1
//   sequence_length  [N], with use_sequence_length: how many of the T count
// C1  axis is 0 or 1
// C2  data has at least 2 axes
// C3  sequence_length has one entry for each of the N
// Source: MXNet 1.9.1 operator/sequence_*-inl.h.
#pragma once

#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

std::optional<std::string> CheckSequenceAxis(int64_t axis);
std::vector<InputSpec> SequenceInputs(bool use_length);
// States sequence_length's type. False when data's shape is not known yet, or
// is illegal.
bool SequenceLengthTypes(int64_t axis, bool use_length, TypeInference& t);
// How many steps of sequence n count, 0 to T.
Expr SequenceLength(const Definition& def, int64_t axis, bool use_length,
                    Expr n);

// The node's inputs, of which data has sequences along `axis`, with their lengths
// behind them: those that it reads already (`has_lengths`), which are none beyond
// the count, or `count` (i32[1]) for each.
std::vector<Value> InputsWithLengths(const Node& node, int64_t axis,
                                     bool has_lengths, Value count,
                                     GraphBuilder& b);

}  // namespace mxc
