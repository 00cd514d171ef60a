// SPDX-License-Identifier: Apache-2.0
// What a tensor is for those who train and measure, beside what the user's
// network says of it. The tables of an artifact have these as numbers
// (mxc_tensor_role); the names that people see are made here alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/graph/tensor.h"

namespace mxc {

enum class TensorRole : uint8_t {
  kOther,
  kRate,       // an input: the learning rate, f64[1]
  kLoss,       // an output, f32[1]
  kGradient,   // an output, or the input of an update: of `of`
  kRows,       // an output: numbers of the rows of `of` that have a gradient
  kNorm,       // an output, f32[1]: the norm of the gradient of `of`
  kLossScale,  // a state, f32[1]: of training in f16
  kOptimizer,  // a state that the optimizer keeps for `of`
  kShared,     // the same, for all parameters
  kUpdates,    // the same, i64[1]: how many updates there were
  kBegun,      // the same, f64[1]: whether there was one
  kCount,      // an output, i32[1]: how many rows of the output `of` there are
  kLength,     // an input, i32[1]: how many entries of open axes there are
};

struct TensorUse {
  TensorRole role = TensorRole::kOther;
  // The parameter, or the state of role kLossScale, that a gradient is of, or
  // what belongs to it; an output, of kCount; empty for the other roles.
  std::string of = {};
  // Of an input or an output: an axis of which the first entries alone count, as
  // many as the input of role kLength says; -1: none. It may hold sequences behind
  // each other, or side by side: index i is of entry i / open_inner % length.
  int open_axis = -1;
  int64_t open_inner = 1;

  friend bool operator==(const TensorUse&, const TensorUse&) = default;
};

// Before the names of nodes that compute gradients, and of gradients.
inline constexpr std::string_view kGradientPrefix = "grad:";

// "learning_rate", "grad:conv0_weight"; of a state that the optimizer keeps
// "conv0_weight/momentum", "optimizer/updates", where `what` is its part of it.
std::string NameOf(const TensorUse& use, std::string_view what = {});

// Returns whether an optimizer may give this name to a variable that belongs to
// no parameter alone.
bool IsOptimizersName(std::string_view name);

// Sequences of `length` entries in a tensor of that shape, which lie behind each
// other: its elements are [before, sequences, length, inner, behind], and the open
// axis is the three in the middle. 0: it has no open axis.
int64_t SequencesIn(const TensorUse& use, const Shape& shape, int64_t length);

// Of the text forms: "rate", "gradient"; none for kOther.
std::string_view RoleName(TensorRole role);
TensorRole RoleNamed(std::string_view word);  // kOther: it names none

// ` as gradient "conv0_weight"`, ` open 1 by 8`; empty for kOther without an axis.
std::string Print(const TensorUse& use);

class Lexer;
TensorUse ReadTensorUse(Lexer& lex);

}  // namespace mxc
