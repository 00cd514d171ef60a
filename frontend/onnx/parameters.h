// SPDX-License-Identifier: Apache-2.0
// Which tensors of a file are parameters.
#pragma once

#include "frontend/frontend.h"
#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {

// Returns whether an initializer of the outermost graph is one: floats that
// have an axis.
bool IsParameter(const Tensor& initializer);
// Returns whether a constant node of the outermost graph holds one: more than
// one float, as of exporters that write weights so.
bool HoldsParameter(const NodeProto& node, const Tensor& value);

// The parameters of a model, "arg:" before the file's names, which may hold
// colons. The arrays lie where the tensors do.
Result<ParameterArrays> ReadParameterArrays(const ModelProto& model,
                                            const TensorFiles& files);

}  // namespace mxc::onnx
