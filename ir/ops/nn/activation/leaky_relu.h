// SPDX-License-Identifier: Apache-2.0
// What LeakyReLU and its gradient share.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

enum class LeakyType : int {
  kRrelu,
  kLeaky,
  kPrelu,
  kElu,
  kSelu,
  kGelu,
  kGeluTanh
};

struct LeakyReluAttrs {
  LeakyType act_type = LeakyType::kLeaky;
  double slope = 0.25;
  double lower_bound = 0.125;
  double upper_bound = 0.334;

  void Describe(Fields& f) {
    f("act_type", act_type)
        .OneOf({"rrelu", "leaky", "prelu", "elu", "selu", "gelu", "gelu_tanh"})
        .Doc("the function");
    f("slope", slope).Doc("of leaky and elu");
    f("lower_bound", lower_bound).Doc("smallest slope of rrelu");
    f("upper_bound", upper_bound).Doc("largest slope of rrelu");
  }
};
MXC_ATTRS(LeakyReLUGradient, LeakyReluAttrs);
MXC_ATTRS(LeakyReLU, LeakyReluAttrs);

}  // namespace mxc
