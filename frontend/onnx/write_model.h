// SPDX-License-Identifier: Apache-2.0
// Graph → ONNX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/frontend.h"

namespace mxc::onnx {

// The versions of ONNX's operators that can be written.
inline constexpr int64_t kOldestWritten = 13, kNewestWritten = 22;
inline constexpr int64_t kWrittenByDefault = 17;

// A file, or several: weights beyond what one message may hold (2 GiB) lie
// beside the model.
struct WrittenModel {
  std::string model;  // the bytes of NAME.onnx
  // The pieces of NAME.onnx.data, which `data_name` calls it, one after the
  // other; views of the model's parameters. Empty: everything is in the model.
  std::vector<std::string_view> data;
};

// The model for inference: loss heads give predictions, labels are no inputs,
// dropout is gone. `model` has values for all parameters, and the types of all
// nodes are known. `other` is the same network's graph for another batch: extents
// of inputs and outputs that differ there are open, "N", unless a node can be
// written for the batch of `model` alone. Null: all are fixed. Fails with every
// node that ONNX, or we, cannot say.
Result<WrittenModel> WriteModel(const Model& model, const Graph* other,
                                int64_t opset, const std::string& data_name);

}  // namespace mxc::onnx
