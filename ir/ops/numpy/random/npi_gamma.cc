// SPDX-License-Identifier: Apache-2.0
// _npi_gamma: numbers drawn from a gamma distribution, with mean shape · scale.
// No gradient reaches the parameters, as in MXNet.
#include "ir/ops/numpy/random/np_random.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiGamma = {
    .names = {"shape", "scale"},
    .typed = true,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value k = b.BroadcastTo(parameters[0], shape);
      const Value scale = b.BroadcastTo(parameters[1], shape);
      return DrawSample(b, Distribution::kGamma, {k, scale}, shape, {});
    }};

}  // namespace

MXC_OP(NpiGamma) {
  return NpRandomOperator<kNpiGamma>("_npi_gamma",
                                     "numbers drawn from a gamma distribution");
}

}  // namespace mxc
