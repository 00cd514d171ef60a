// SPDX-License-Identifier: Apache-2.0
// Products of matrices, which ONNX's and com.microsoft's operators share.
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// As numpy.matmul: vectors become matrices, and their axis goes again.
Value MatrixProduct(Call& c, Value a, Value b);

}  // namespace mxc::onnx
