// SPDX-License-Identifier: Apache-2.0
// What a tensor is for those who train and measure, beside what the user's
// network says of it. The tables of an artifact have these as numbers
// (mxc_tensor_role); the names that people see are made here alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// An axis of which the first entries alone count, as many as the input of role
// kLength says that is of the same length. It may hold sequences behind each other,
// or side by side: index i is of entry i / inner % length.
struct LengthAxis {
  int axis = 0;
  int64_t inner = 1;
  std::string length = {};  // its name; empty: the only one
  friend bool operator==(const LengthAxis&, const LengthAxis&) = default;
};

struct TensorUse {
  TensorRole role = TensorRole::kOther;
  // The parameter, or the state of role kLossScale, that a gradient is of, or
  // what belongs to it; an output, of kCount; a length's name, of kLength; empty
  // for the other roles.
  std::string of = {};
  std::vector<LengthAxis> open = {};  // of an input or an output

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

// Of the text forms: "rate", "gradient"; none for kOther.
std::string_view RoleName(TensorRole role);
TensorRole RoleNamed(std::string_view word);  // kOther: it names none

// ` as gradient "conv0_weight"`, ` open 1 by 8 of "T"`; empty for kOther without an
// axis.
std::string Print(const TensorUse& use);

class Lexer;
TensorUse ReadTensorUse(Lexer& lex);

}  // namespace mxc
