// SPDX-License-Identifier: Apache-2.0
// Numbers drawn from distributions. Each distribution is three rows: with
// parameters that are attributes and a stated shape (_random_…), the same with
// the shape of the input (…_like), and with a tensor of parameters (_sample_…).
#include "ir/ops/tensor/random/sampling.h"

namespace mxc {

MXC_OP(RandomUniform) { return RandomOperator<Distribution::kUniform>(); }

MXC_OP(RandomUniformLike) {
  return RandomLikeOperator<Distribution::kUniform>();
}

MXC_OP(SampleUniform) { return SampleOperator<Distribution::kUniform>(); }

MXC_OP(RandomNormal) { return RandomOperator<Distribution::kNormal>(); }

MXC_OP(RandomNormalLike) { return RandomLikeOperator<Distribution::kNormal>(); }

MXC_OP(SampleNormal) { return SampleOperator<Distribution::kNormal>(); }

MXC_OP(RandomExponential) {
  return RandomOperator<Distribution::kExponential>();
}

MXC_OP(RandomExponentialLike) {
  return RandomLikeOperator<Distribution::kExponential>();
}

MXC_OP(SampleExponential) {
  return SampleOperator<Distribution::kExponential>();
}

MXC_OP(RandomGamma) { return RandomOperator<Distribution::kGamma>(); }

MXC_OP(RandomGammaLike) { return RandomLikeOperator<Distribution::kGamma>(); }

MXC_OP(SampleGamma) { return SampleOperator<Distribution::kGamma>(); }

MXC_OP(RandomPoisson) { return RandomOperator<Distribution::kPoisson>(); }

MXC_OP(RandomPoissonLike) {
  return RandomLikeOperator<Distribution::kPoisson>();
}

MXC_OP(SamplePoisson) { return SampleOperator<Distribution::kPoisson>(); }

MXC_OP(RandomNegativeBinomial) {
  return RandomOperator<Distribution::kNegativeBinomial>();
}

MXC_OP(RandomNegativeBinomialLike) {
  return RandomLikeOperator<Distribution::kNegativeBinomial>();
}

MXC_OP(SampleNegativeBinomial) {
  return SampleOperator<Distribution::kNegativeBinomial>();
}

MXC_OP(RandomGeneralizedNegativeBinomial) {
  return RandomOperator<Distribution::kGeneralizedNegativeBinomial>();
}

MXC_OP(RandomGeneralizedNegativeBinomialLike) {
  return RandomLikeOperator<Distribution::kGeneralizedNegativeBinomial>();
}

MXC_OP(SampleGeneralizedNegativeBinomial) {
  return SampleOperator<Distribution::kGeneralizedNegativeBinomial>();
}

}  // namespace mxc
