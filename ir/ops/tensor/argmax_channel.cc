// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/extremum.h"

namespace mxc {
namespace {

constexpr ExtremumAttrs kChannels = {.axis = 1};

}  // namespace

MXC_OP(ArgmaxChannel) {
  return Op<>("argmax_channel")
      .Doc("the position of the first greatest element of axis 1")
      .Types(
          [](const NoAttrs&, TypeInference& t) { ExtremumTypes(kChannels, t); })
      .Meaning([](const NoAttrs&, Definition& def) {
        ExtremumMeaning(kChannels, def, ReduceOp::kMax);
      })
      .ZeroGradient();
}

}  // namespace mxc
