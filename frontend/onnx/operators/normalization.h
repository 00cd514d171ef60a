// SPDX-License-Identifier: Apache-2.0
// Normalisations of the axes at the end, which ONNX's and com.microsoft's
// operators share.
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// 1 / √(mean(x²) + ε) over the axes from `first` on, of extent 1 there.
Value InverseRootMeanSquare(Call& c, Value x, int first, double epsilon);
// (x − mean) / √(var + ε) · gamma + beta over the last axis; beta may be empty.
Value NormalizedLayer(Call& c, Value x, Value gamma, Value beta,
                      double epsilon);

}  // namespace mxc::onnx
