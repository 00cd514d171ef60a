// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/parameters.h"

#include <memory>
#include <string>
#include <utility>

namespace mxc::onnx {
namespace {

// Shares the tensor's bytes.
runtime::NamedArray ArrayOf(Text name, const Tensor& tensor) {
  runtime::NamedArray named;
  named.name = "arg:" + std::string(name);
  named.array.type = static_cast<runtime::ElementType>(tensor.type().dtype);
  named.array.shape = tensor.shape().dims();
  const auto kept = std::make_shared<const Tensor>(tensor);
  named.array.storage =
      std::shared_ptr<std::byte[]>(kept, const_cast<std::byte*>(kept->bytes()));
  return named;
}

// The tensor of a node that is a constant; null: it is none.
const TensorProto* ConstantOf(const NodeProto& node) {
  if (node.op_type != "Constant" || !node.domain.empty() ||
      node.output.size() != 1) {
    return nullptr;
  }
  for (const AttributeProto& attribute : node.attribute) {
    if (attribute.name == "value") return attribute.t.get();
  }
  return nullptr;
}

}  // namespace

bool IsParameter(const Tensor& initializer) {
  const TensorType& type = initializer.type();
  return IsFloat(type.dtype) && type.shape.rank() > 0 &&
         type.shape.elements() > 0;
}

bool HoldsParameter(const NodeProto& node, const Tensor& value) {
  return ConstantOf(node) != nullptr && IsParameter(value) &&
         value.shape().elements() > 1;
}

Result<ParameterArrays> ReadParameterArrays(const ModelProto& model,
                                            const TensorFiles& files) {
  ParameterArrays arrays;
  Diagnostics errors;
  const auto read = [&](const TensorProto& from, Text name) {
    auto tensor = files.Read(from);
    if (!tensor.ok()) {
      errors.push_back(Error({}, "initializer '{}': {}", name.substr(0, 200),
                             tensor.errors().front().message));
    }
    return tensor;
  };
  for (const TensorProto& initializer : model.graph->initializer) {
    const auto tensor = read(initializer, initializer.name);
    if (tensor.ok() && IsParameter(*tensor)) {
      arrays.push_back(ArrayOf(initializer.name, *tensor));
    }
  }
  for (const NodeProto& node : model.graph->node) {
    const TensorProto* constant = ConstantOf(node);
    if (constant == nullptr || !DTypeOf(constant->data_type)) continue;
    const auto tensor = read(*constant, node.output[0]);
    if (tensor.ok() && HoldsParameter(node, *tensor)) {
      arrays.push_back(ArrayOf(node.output[0], *tensor));
    }
  }
  if (!errors.empty()) return errors;
  return arrays;
}

}  // namespace mxc::onnx
