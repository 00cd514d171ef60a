// SPDX-License-Identifier: Apache-2.0
// Activations that ONNX's and com.microsoft's operators share.
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// x · Φ(x), and its approximation by tanh.
Value ExactGelu(Call& c, Value x);
Value TanhGelu(Call& c, Value x);

}  // namespace mxc::onnx
