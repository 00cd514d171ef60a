// SPDX-License-Identifier: Apache-2.0
// Recognises steps that cuDNN can compute as they are.
#pragma once

#include <optional>

#include "ir/program/program.h"
#include "runtime/abi/convolution.h"

namespace mxc {

// Returns whether steps of the contraction may be such convolutions.
bool MayBeConvolution(const Contraction& c);

// As BiasOf (role_strides.h) has it; only forward convolutions add one.
std::optional<int64_t> ConvolutionBias(const Program& program,
                                       const Step& step);

// What the step computes, for a library on the device: a convolution along two
// or three axes, or one of its gradients, of floats in strides, whose sums are
// stored as they are or, forward, with a bias for each channel. Nothing for other
// steps.
std::optional<Convolution> ConvolutionOf(const Program& program,
                                         const Step& step);

}  // namespace mxc
